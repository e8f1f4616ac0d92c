#include "audio/wav_reader.hpp"

#include <algorithm>
#include <utility>

#include "audio/riff.hpp"
#include "base/error.hpp"

namespace diarist::audio {
namespace {

class WavReader final : public Reader {
 public:
  WavReader(Bytes& bytes, WavLayout layout) : bytes_(bytes), layout_(std::move(layout)) {
    warnings_ = layout_.warnings;
    frame_bytes_ =
        sample_bytes(layout_.format.encoding) * static_cast<std::size_t>(layout_.format.channels);
    const std::size_t frames = block_frames(layout_.format.channels);
    encoded_.resize(frames * frame_bytes_);
    samples_.resize(frames * static_cast<std::size_t>(layout_.format.channels));
  }

  Block next() override {
    while (extent_ < layout_.data.size()) {
      const Extent& extent = layout_.data[extent_];
      const std::uint64_t left = extent.size - done_;
      if (left == 0) {
        ++extent_;
        done_ = 0;
        continue;
      }
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, encoded_.size()));
      std::size_t got = bytes_.read_at(extent.offset + done_, std::span(encoded_).first(wanted));
      if (got < wanted) {
        warnings_.push_back(fmt::format("{}: became shorter while it was read; the rest is missing",
                                        bytes_.name()));
        extent_ = layout_.data.size();  // nothing more to come
      }
      got -= got % frame_bytes_;
      done_ += got;
      if (got == 0) break;
      const std::size_t count = got / sample_bytes(layout_.format.encoding);
      decode_pcm(layout_.format.encoding, std::span(encoded_).first(got),
                 std::span(samples_).first(count));
      return {std::span(samples_).first(count), layout_.format.channels,
              layout_.format.sample_rate};
    }
    return {{}, layout_.format.channels, layout_.format.sample_rate};
  }

  std::int64_t skip(std::int64_t frames) override {
    std::int64_t skipped = 0;
    while (extent_ < layout_.data.size() && skipped < frames) {
      const auto here = static_cast<std::int64_t>(layout_.data[extent_].size / frame_bytes_);
      const std::int64_t count = std::min(frames - skipped, here);
      skipped += count;
      if (count == here) {
        ++extent_;
      } else {
        done_ = static_cast<std::uint64_t>(count) * frame_bytes_;
      }
    }
    return skipped;
  }

  std::int64_t expected_frames() const noexcept override {
    std::uint64_t total = 0;
    for (const Extent& extent : layout_.data) total += extent.size / frame_bytes_;
    return static_cast<std::int64_t>(total);
  }
  int expected_rate() const noexcept override { return layout_.format.sample_rate; }

 private:
  Bytes& bytes_;
  WavLayout layout_;
  std::size_t frame_bytes_ = 1;
  std::size_t extent_ = 0;  // data chunk in work
  std::uint64_t done_ = 0;  // bytes of it already given out
  std::vector<std::byte> encoded_;
  std::vector<float> samples_;
};

}  // namespace

std::unique_ptr<Reader> open_wav(Bytes& bytes) {
  if (!bytes.seekable()) return nullptr;
  std::optional<WavLayout> layout = parse_wav(bytes);
  if (!layout) return nullptr;
  return std::make_unique<WavReader>(bytes, std::move(*layout));
}

}  // namespace diarist::audio
