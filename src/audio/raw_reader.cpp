#include "audio/raw_reader.hpp"

#include <algorithm>
#include <limits>

#include "audio/frame_decoder.hpp"
#include "base/error.hpp"

namespace diarist::audio {
namespace {

Encoding encoding_of(SampleFormat format) {
  switch (format) {
    case SampleFormat::kS16Le:
      return Encoding::kS16;
    case SampleFormat::kS16Be:
      return Encoding::kS16Big;
    case SampleFormat::kU8:
      return Encoding::kU8;
    case SampleFormat::kS24Le:
      return Encoding::kS24;
    case SampleFormat::kS32Le:
      return Encoding::kS32;
    case SampleFormat::kF32Le:
      return Encoding::kF32;
    case SampleFormat::kF64Le:
      return Encoding::kF64;
    case SampleFormat::kMuLaw:
      return Encoding::kMuLaw;
    case SampleFormat::kALaw:
      return Encoding::kALaw;
  }
  return Encoding::kS16;
}

class RawReader final : public Reader {
 public:
  RawReader(Bytes& bytes, const RawFormat& raw)
      : bytes_(bytes), raw_(raw), frames_(encoding_of(raw.format), raw.channels) {}

  Block next() override {
    if (ended_) return {{}, raw_.channels, raw_.sample_rate};
    std::size_t rest = 0;
    const auto samples = frames_.read(bytes_, position_, kNoLimit, &rest);
    position_ += samples.size() * frames_.sample_size() + rest;
    if (!frames_.full(samples)) ended_ = true;
    if (rest > 0) {
      warnings_.push_back(
          fmt::format("{}: ends in the middle of a frame; its last {} bytes are left out (is the "
                      "raw format right?)",
                      bytes_.name(), rest));
    }
    return {samples, raw_.channels, raw_.sample_rate};
  }

  std::int64_t skip(std::int64_t frames) override {
    if (!bytes_.seekable()) return 0;
    const std::int64_t skipped = std::min(frames, expected_frames());
    position_ += static_cast<std::uint64_t>(skipped) * frames_.frame_size();
    return skipped;
  }

  std::int64_t expected_frames() const noexcept override {
    return static_cast<std::int64_t>(bytes_.size() / frames_.frame_size());
  }
  int expected_rate() const noexcept override { return raw_.sample_rate; }

 private:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  Bytes& bytes_;
  RawFormat raw_;
  FrameDecoder frames_;
  std::uint64_t position_ = 0;  // in bytes
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Reader> open_raw(Bytes& bytes, const RawFormat& raw) {
  if (!is_possible(raw)) {
    base::fail(ErrorCode::kInvalidArgument,
               "raw samples of {} Hz and {} channels: {} to {} Hz and 1 to {} channels can be read",
               raw.sample_rate, raw.channels, kMinSampleRate, kMaxSampleRate, kMaxChannels);
  }
  return std::make_unique<RawReader>(bytes, raw);
}

}  // namespace diarist::audio
