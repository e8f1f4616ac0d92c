#pragma once
// Chunk headers of RIFF, RF64 and Wave64 forms, read in order.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audio/bytes.hpp"

namespace diarist::audio {

/// Sizes above are taken for "not known": -1, 2^63 - 1 and the like.
constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 62;

/// What recorders and encoders write as a size of 32 bits when they don't know it beforehand:
/// ffmpeg 0xFFFFFFFF (minus headers with some tools), sox 0x7FFFF000 and up, arecord 0x80000000.
constexpr bool is_placeholder(std::uint64_t size) {
  return size >= 0xFFFFF000 || (size >= 0x7FFFF000 && size <= 0x80000000);
}

/// One pass over a form's chunks; works on pipes. Not thread-safe.
class ChunkWalk {
 public:
  struct Chunk {
    std::string id;           // four letters; of Wave64 those its GUID begins with
    std::uint64_t body = 0;   // offset of the content
    std::uint64_t size = 0;   // of the content, as announced
    bool open_ended = false;  // the size is a placeholder: to the end of the bytes
  };

  explicit ChunkWalk(Bytes& bytes) : bytes_(bytes) {}

  /// Reads the form's header. False when there is none, or RIFF of something else.
  bool open();
  bool is_wave64() const noexcept { return wave64_; }
  /// The chunk at the current place, or nothing where none begins. Notes the size in ds64.
  std::optional<Chunk> next();
  /// Goes behind a chunk of which everything up to `read_to` has been read (bytes that are still
  /// remembered may be read twice). False when the bytes end before.
  bool leave(const Chunk& chunk, std::uint64_t read_to);
  /// Whether a chunk begins at this place. Bytes of a pipe must still be remembered there.
  bool chunk_at(std::uint64_t place) const;

 private:
  void read_wide_size(const Chunk& chunk);

  Bytes& bytes_;
  bool wave64_ = false;
  bool wide_ = false;            // RF64, BW64
  std::uint64_t wide_size_ = 0;  // of the samples, from ds64; 0: not known
  std::uint64_t at_ = 0;
};

}  // namespace diarist::audio
