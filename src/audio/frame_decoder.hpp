#pragma once
// Whole frames of plain samples out of bytes that may come in any portions.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "audio/bytes.hpp"
#include "audio/pcm.hpp"

namespace diarist::audio {

/// Owns the buffers of one reader.
class FrameDecoder {
 public:
  FrameDecoder(Encoding encoding, int channels);

  std::size_t sample_size() const noexcept { return sample_size_; }
  std::size_t frame_size() const noexcept { return frame_size_; }

  /// Reads and decodes one block of frames at `offset`, no byte behind offset + limit. Fewer than a
  /// block only at the end of the bytes or of the limit; the bytes of a frame cut off there are
  /// read too and counted in `rest`. The samples are valid until the next call.
  std::span<const float> read(Bytes& bytes, std::uint64_t offset, std::uint64_t limit,
                              std::size_t* rest);
  /// Whether read() gave a whole block: there may be more.
  bool full(std::span<const float> samples) const noexcept {
    return samples.size() == samples_.size();
  }

 private:
  Encoding encoding_;
  std::size_t sample_size_;
  std::size_t frame_size_;
  std::vector<std::byte> encoded_;
  std::vector<float> samples_;
};

/// Reads until `out` is full or the bytes end; pipes give what they have at a time.
std::size_t read_fully(Bytes& bytes, std::uint64_t offset, std::span<std::byte> out);

}  // namespace diarist::audio
