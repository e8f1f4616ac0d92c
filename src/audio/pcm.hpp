#pragma once
// Linear and companded sample encodings as WAV files and raw streams carry them.

#include <cstddef>
#include <span>

namespace diarist::audio {

/// Little endian, but for kS16Big.
enum class Encoding { kU8, kS16, kS16Big, kS24, kS32, kF32, kF64, kALaw, kMuLaw };

/// Bytes of one sample.
std::size_t sample_bytes(Encoding encoding);

/// Integers become value / 2^(bits-1) (u8: (value - 128) / 128), companded codes their 16-bit value
/// of ITU-T G.711 / 32768; floats are passed on as they are, NaN included. Sizes must agree:
/// bytes.size() == out.size() * sample_bytes(encoding).
void decode_pcm(Encoding encoding, std::span<const std::byte> bytes, std::span<float> out);

}  // namespace diarist::audio
