#include "audio/frame_decoder.hpp"

#include <algorithm>

#include "audio/reader.hpp"

namespace diarist::audio {

std::size_t read_fully(Bytes& bytes, std::uint64_t offset, std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t got = bytes.read_at(offset + done, out.subspan(done));
    if (got == 0) break;
    done += got;
  }
  return done;
}

FrameDecoder::FrameDecoder(Encoding encoding, int channels)
    : encoding_(encoding),
      sample_size_(sample_bytes(encoding)),
      frame_size_(sample_size_ * static_cast<std::size_t>(channels)),
      encoded_(block_frames(channels) * frame_size_),
      samples_(block_frames(channels) * static_cast<std::size_t>(channels)) {}

std::span<const float> FrameDecoder::read(Bytes& bytes, std::uint64_t offset, std::uint64_t limit,
                                          std::size_t* rest) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(limit, encoded_.size()));
  const std::size_t got = read_fully(bytes, offset, std::span(encoded_).first(wanted));
  if (rest != nullptr) *rest = got % frame_size_;
  const std::size_t used = got - got % frame_size_;
  const auto samples = std::span(samples_).first(used / sample_size_);
  decode_pcm(encoding_, std::span(encoded_).first(used), samples);
  return samples;
}

}  // namespace diarist::audio
