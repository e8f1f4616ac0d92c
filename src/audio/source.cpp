#include "audio/source.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "audio/bytes.hpp"
#include "audio/ffmpeg_reader.hpp"
#include "audio/intake.hpp"
#include "audio/reader.hpp"
#include "audio/resampler.hpp"
#include "audio/sndfile_reader.hpp"
#include "base/error.hpp"
#include "base/run_control.hpp"

namespace diarist::audio {
namespace {

std::size_t values_of(const AudioView& audio) {
  return audio.pcm16.empty() ? audio.samples.size() : audio.pcm16.size();
}

// Interleaved floats are handed on where they lie; other layouts block by block.
class MemoryReader final : public Reader {
 public:
  explicit MemoryReader(const AudioView& audio)
      : audio_(audio), frames_(values_of(audio) / static_cast<std::size_t>(audio.channels)) {}

  Block next() override {
    const auto width = static_cast<std::size_t>(audio_.channels);
    const std::size_t first = done_;
    const std::size_t count = std::min(frames_ - first, block_frames(audio_.channels));
    done_ += count;
    if (audio_.pcm16.empty() && (!audio_.planar || width == 1))
      return {audio_.samples.subspan(first * width, count * width), audio_.channels,
              audio_.sample_rate};
    block_.resize(count * width);
    for (std::size_t frame = 0; frame < count; ++frame)
      for (std::size_t channel = 0; channel < width; ++channel)
        block_[frame * width + channel] = value_at(first + frame, channel);
    return {block_, audio_.channels, audio_.sample_rate};
  }
  std::int64_t expected_frames() const noexcept override {
    return static_cast<std::int64_t>(frames_);
  }
  int expected_rate() const noexcept override { return audio_.sample_rate; }

 private:
  float value_at(std::size_t frame, std::size_t channel) const {
    const std::size_t at = audio_.planar
                               ? channel * frames_ + frame
                               : frame * static_cast<std::size_t>(audio_.channels) + channel;
    return audio_.pcm16.empty() ? audio_.samples[at]
                                : static_cast<float>(audio_.pcm16[at]) * (1.0F / 32768.0F);
  }

  AudioView audio_;
  std::size_t frames_;
  std::size_t done_ = 0;  // frames
  std::vector<float> block_;
};

class StreamSource final : public Source {
 public:
  /// \param bytes null for audio in memory.
  StreamSource(std::unique_ptr<Bytes> bytes, std::unique_ptr<Reader> reader,
               const SourceOptions& options)
      : bytes_(std::move(bytes)),
        reader_(std::move(reader)),
        options_(options),
        intake_({.name = bytes_ != nullptr ? bytes_->name() : "audio in memory",
                 .wrong_channels =
                     bytes_ != nullptr ? ErrorCode::kBadFile : ErrorCode::kInvalidArgument,
                 .reference = options.reference,
                 .audio = options.audio}) {
    if (const int rate = reader_->expected_rate(); rate > 0)
      intake_.passed(reader_->skip(intake_.begin_at(rate)));
  }

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
    const std::int64_t first = frames_in(options_.audio.from, rate);
    std::int64_t last = frames;
    if (options_.audio.to) last = std::min(last, frames_in(*options_.audio.to, rate));
    return last > first ? resampled_length(last - first, rate) : 0;
  }

  const std::vector<std::string>& warnings() const noexcept override {
    return ended_ ? warnings_ : reader_->warnings();
  }

 private:
  // Makes `ready_` non-empty; false at the end.
  bool refill() {
    ready_.clear();
    taken_ = 0;
    while (ready_.empty() && !ended_) {
      base::check_stop(options_.stop);
      const Block block = intake_.full() ? Block{} : reader_->next();
      if (block.samples.empty())
        finish();
      else
        intake_.push(block, ready_);
    }
    return !ready_.empty();
  }

  void finish() {
    intake_.finish(ready_);
    ended_ = true;
    warnings_ = reader_->warnings();
    for (const std::string& warning : intake_.warnings()) warnings_.push_back(warning);
  }

  std::unique_ptr<Bytes> bytes_;  // null for audio in memory; outlives the reader
  std::unique_ptr<Reader> reader_;
  SourceOptions options_;
  Intake intake_;
  bool ended_ = false;
  std::vector<std::string> warnings_;  // of the whole, at the end
  std::vector<float> ready_;           // 16 kHz, from taken_ on
  std::size_t taken_ = 0;
};

}  // namespace

void check_audio_options(const AudioOptions& options) {
  const auto fail = [](const std::string& text) {
    base::fail(ErrorCode::kInvalidArgument, "{}", text);
  };
  if (options.track < 0)
    fail(fmt::format("sound track {}: they are counted from 1", options.track));
  if (options.channel < 0)
    fail(fmt::format("channel {}: they are counted from 1", options.channel));
  if (!(options.from >= 0) || !std::isfinite(options.from)) {
    fail(fmt::format("from {} s: give 0 or more seconds", options.from));
  }
  if (options.to && !(*options.to > options.from && std::isfinite(*options.to))) {
    fail(fmt::format("from {} to {} s: the end must lie behind the start", options.from,
                     *options.to));
  }
  if (options.raw && (options.track > 1 || options.container_clock)) {
    fail("raw samples have neither tracks nor a clock; leave those options out");
  }
}

std::unique_ptr<Source> open_file(const std::filesystem::path& file, const SourceOptions& options) {
  return open_encoded(open_bytes(file, options.stop), options);
}

std::unique_ptr<Source> open_encoded(std::unique_ptr<Bytes> bytes, const SourceOptions& options) {
  check_audio_options(options.audio);
  RememberedPipe* pipe = nullptr;
  if (!bytes->seekable()) {
    auto remembered = std::make_unique<RememberedPipe>(std::move(bytes));
    std::byte first{};
    if (remembered->read_at(0, {&first, 1}) == 0) {
      base::fail(ErrorCode::kBadFile, "{}: is empty; send a recording into it", remembered->name());
    }
    pipe = remembered.get();
    bytes = std::move(remembered);
    if (!options.audio.raw && needs_seeking(*pipe)) {
      bytes = spool(std::move(bytes), options.stop);
      pipe = nullptr;
    }
  }
  std::unique_ptr<Reader> reader = open_reader(*bytes, options.audio);
  if (pipe != nullptr) pipe->forget();
  return std::make_unique<StreamSource>(std::move(bytes), std::move(reader), options);
}

SharedFile::SharedFile(const std::filesystem::path& file, const std::stop_token& stop)
    : bytes_(open_bytes(file, stop)) {
  if (!bytes_->seekable()) bytes_ = spool(std::move(bytes_), stop);
}

SharedFile::~SharedFile() = default;

std::unique_ptr<Source> SharedFile::open(const SourceOptions& options) const {
  return open_encoded(bytes_->again(), options);
}

void check_samples(int sample_rate, int channels, const AudioOptions& options) {
  if (sample_rate < kMinSampleRate || sample_rate > kMaxSampleRate) {
    base::fail(ErrorCode::kInvalidArgument,
               "audio in memory: sample_rate is {} Hz; {} to {} can be used", sample_rate,
               kMinSampleRate, kMaxSampleRate);
  }
  if (channels < 1 || channels > kMaxChannels) {
    base::fail(ErrorCode::kInvalidArgument, "audio in memory: channels is {}; give 1 to {}",
               channels, kMaxChannels);
  }
  check_audio_options(options);
  if (options.raw || options.track > 1) {
    base::fail(ErrorCode::kInvalidArgument,
               "audio in memory: has neither encoded bytes nor tracks; leave raw format and track "
               "out");
  }
}

std::unique_ptr<Source> open_memory(const AudioView& audio, const SourceOptions& options) {
  check_samples(audio.sample_rate, audio.channels, options.audio);
  if (!audio.samples.empty() && !audio.pcm16.empty()) {
    base::fail(
        ErrorCode::kInvalidArgument,
        "audio in memory: samples are given both as floats and in 16 bits; give one of them");
  }
  if (values_of(audio) % static_cast<std::size_t>(audio.channels) != 0) {
    base::fail(ErrorCode::kInvalidArgument,
               "audio in memory: {} samples are not whole frames of {} channels", values_of(audio),
               audio.channels);
  }
  return std::make_unique<StreamSource>(nullptr, std::make_unique<MemoryReader>(audio), options);
}

std::vector<std::string> reader_names() {
  std::vector<std::string> names = {sndfile_version()};
  if (std::string ffmpeg = ffmpeg_version(); !ffmpeg.empty()) names.push_back(std::move(ffmpeg));
  return names;
}

}  // namespace diarist::audio
