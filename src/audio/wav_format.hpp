#pragma once
// The format chunk of WAV, RF64 and Wave64 files.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "audio/bytes.hpp"
#include "audio/pcm.hpp"

namespace diarist::audio {

struct WavFormat {
  Encoding encoding = Encoding::kS16;
  int channels = 1;
  int sample_rate = 16000;
  std::uint64_t frame_bytes() const {
    return static_cast<std::uint64_t>(channels) * sample_bytes(encoding);
  }
};

/// Bytes of a format chunk that matter at most; what follows is for compressed samples.
constexpr std::size_t kFormatBytes = 40;

/// Nothing for samples that are not plain numbers (ADPCM, MP3, ...). `bytes` is for messages.
/// \throws Error kBadFile for a chunk that is cut off and for numbers that no recording has.
std::optional<WavFormat> parse_wav_format(std::span<const std::byte> chunk, const Bytes& bytes);

/// Little-endian number of `count` bytes at `at`.
std::uint64_t little_endian(std::span<const std::byte> bytes, std::size_t at, std::size_t count);

}  // namespace diarist::audio
