#include "audio/source.hpp"

#include <algorithm>
#include <utility>

#include "audio/bytes.hpp"
#include "audio/downmix.hpp"
#include "audio/ffmpeg_reader.hpp"
#include "audio/reader.hpp"
#include "audio/resampler.hpp"
#include "audio/sndfile_reader.hpp"
#include "base/error.hpp"

namespace diarist::audio {
namespace {

class MemoryReader final : public Reader {
 public:
  explicit MemoryReader(const AudioView& audio) : audio_(audio) {}
  Block next() override {
    const std::size_t block =
        block_frames(audio_.channels) * static_cast<std::size_t>(audio_.channels);
    const auto rest = audio_.samples.subspan(done_);
    const auto part = rest.first(std::min(rest.size(), block));
    done_ += part.size();
    return {part, audio_.channels, audio_.sample_rate};
  }
  std::int64_t expected_frames() const noexcept override {
    return static_cast<std::int64_t>(audio_.samples.size()) / audio_.channels;
  }
  int expected_rate() const noexcept override { return audio_.sample_rate; }

 private:
  AudioView audio_;
  std::size_t done_ = 0;
};

class StreamSource final : public Source {
 public:
  StreamSource(std::unique_ptr<Bytes> bytes, std::unique_ptr<Reader> reader,
               const SourceOptions& options)
      : bytes_(std::move(bytes)), reader_(std::move(reader)), options_(options) {}

  std::size_t read(std::span<float> out) override {
    std::size_t done = 0;
    while (done < out.size()) {
      const auto ready = std::span(ready_).subspan(taken_);
      const std::size_t count = std::min(ready.size(), out.size() - done);
      std::copy_n(ready.begin(), count, out.begin() + static_cast<std::ptrdiff_t>(done));
      done += count;
      taken_ += count;
      if (done < out.size() && !refill()) break;
    }
    return done;
  }

  std::int64_t expected_samples() const noexcept override {
    const std::int64_t frames = reader_->expected_frames();
    const int rate = reader_->expected_rate();
    if (frames <= 0 || frames >= std::int64_t{1} << 48 || rate <= 0) return 0;
    return resampled_length(frames, rate);
  }

  const std::vector<std::string>& warnings() const noexcept override { return reader_->warnings(); }

 private:
  // Makes `ready_` non-empty; false at the end.
  bool refill() {
    ready_.clear();
    taken_ = 0;
    while (ready_.empty() && !ended_) {
      const Block block = reader_->next();
      ended_ = block.samples.empty();
      if (resampler_ != nullptr && (ended_ || block.sample_rate != rate_)) {
        resampler_->finish(ready_);
        resampler_.reset();
      }
      if (ended_) break;
      if (resampler_ == nullptr) {
        rate_ = block.sample_rate;
        resampler_ = make_resampler(rate_, options_.reference);
      }
      downmix(block.samples, block.channels, mono_);
      resampler_->push(mono_, ready_);
    }
    return !ready_.empty();
  }

  std::unique_ptr<Bytes> bytes_;  // null for audio in memory; outlives the reader
  std::unique_ptr<Reader> reader_;
  SourceOptions options_;
  std::unique_ptr<Resampler> resampler_;  // for rate_
  int rate_ = 0;
  bool ended_ = false;
  std::vector<float> mono_;   // a block at the reader's rate
  std::vector<float> ready_;  // 16 kHz, from taken_ on
  std::size_t taken_ = 0;
};

}  // namespace

std::unique_ptr<Source> open_file(const std::filesystem::path& file, const SourceOptions& options) {
  return open_encoded(open_bytes(file), options);
}

std::unique_ptr<Source> open_encoded(std::unique_ptr<Bytes> bytes, const SourceOptions& options) {
  std::unique_ptr<Reader> reader = open_reader(*bytes);
  return std::make_unique<StreamSource>(std::move(bytes), std::move(reader), options);
}

std::unique_ptr<Source> open_memory(const AudioView& audio, const SourceOptions& options) {
  if (audio.sample_rate < kMinSampleRate || audio.sample_rate > kMaxSampleRate) {
    base::fail(ErrorCode::kInvalidArgument,
               "audio in memory: sample_rate is {} Hz; {} to {} can be used", audio.sample_rate,
               kMinSampleRate, kMaxSampleRate);
  }
  if (audio.channels < 1 || audio.channels > kMaxChannels) {
    base::fail(ErrorCode::kInvalidArgument, "audio in memory: channels is {}; give 1 to {}",
               audio.channels, kMaxChannels);
  }
  if (audio.samples.size() % static_cast<std::size_t>(audio.channels) != 0) {
    base::fail(ErrorCode::kInvalidArgument,
               "audio in memory: {} samples are not whole frames of {} channels",
               audio.samples.size(), audio.channels);
  }
  return std::make_unique<StreamSource>(nullptr, std::make_unique<MemoryReader>(audio), options);
}

std::vector<std::string> reader_names() {
  std::vector<std::string> names = {sndfile_version()};
  if (std::string ffmpeg = ffmpeg_version(); !ffmpeg.empty()) names.push_back(std::move(ffmpeg));
  return names;
}

}  // namespace diarist::audio
