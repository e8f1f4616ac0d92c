#include "audio/wav_format.hpp"

#include <array>
#include <cstring>

#include "audio/reader.hpp"
#include "base/error.hpp"

namespace diarist::audio {
namespace {

constexpr int kTagPcm = 1;
constexpr int kTagFloat = 3;
constexpr int kTagALaw = 6;
constexpr int kTagMuLaw = 7;
constexpr int kTagExtensible = 0xFFFE;

// The chunk as it stands there.
struct Format {
  int tag = 0;
  int bits = 0;
};

// The bytes after the fixed part of an extensible sub-format: KSDATAFORMAT_SUBTYPE_* and the
// ambisonic B-format ones.
bool known_subformat(std::span<const std::byte> guid) {
  static constexpr std::array<unsigned char, 14> kStandard = {
      0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71};
  static constexpr std::array<unsigned char, 14> kAmbisonic = {
      0x00, 0x00, 0x21, 0x07, 0xd3, 0x11, 0x86, 0x44, 0xc8, 0xc1, 0xca, 0x00, 0x00, 0x00};
  return std::memcmp(guid.data() + 2, kStandard.data(), 14) == 0 ||
         std::memcmp(guid.data() + 2, kAmbisonic.data(), 14) == 0;
}

std::optional<Encoding> encoding_of(const Format& format) {
  if (format.tag == kTagPcm) {
    switch ((format.bits + 7) / 8) {
      case 1:
        return Encoding::kU8;
      case 2:
        return Encoding::kS16;
      case 3:
        return Encoding::kS24;
      case 4:
        return Encoding::kS32;
      default:
        return std::nullopt;
    }
  }
  if (format.tag == kTagFloat && format.bits == 32) return Encoding::kF32;
  if (format.tag == kTagFloat && format.bits == 64) return Encoding::kF64;
  if (format.tag == kTagALaw && format.bits == 8) return Encoding::kALaw;
  if (format.tag == kTagMuLaw && format.bits == 8) return Encoding::kMuLaw;
  return std::nullopt;
}

}  // namespace

std::uint64_t little_endian(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
  }
  return value;
}

std::optional<WavFormat> parse_wav_format(std::span<const std::byte> chunk, const Bytes& bytes) {
  if (chunk.size() < 16) {
    base::fail(ErrorCode::kBadFile, "{}: its WAV format chunk is cut off; copy the file again",
               bytes.name());
  }
  Format format{.tag = static_cast<int>(little_endian(chunk, 0, 2)),
                .bits = static_cast<int>(little_endian(chunk, 14, 2))};
  const int channels = static_cast<int>(little_endian(chunk, 2, 2));
  const auto sample_rate = static_cast<std::int64_t>(little_endian(chunk, 4, 4));
  const std::uint64_t block_align = little_endian(chunk, 12, 2);
  if (format.tag == kTagExtensible) {
    if (chunk.size() < kFormatBytes || !known_subformat(chunk.subspan(24, 16))) return std::nullopt;
    format.tag = static_cast<int>(little_endian(chunk, 24, 2));
  }
  const std::optional<Encoding> encoding = encoding_of(format);
  if (!encoding) return std::nullopt;
  check_format(bytes, sample_rate, channels);
  const WavFormat found{
      .encoding = *encoding, .channels = channels, .sample_rate = static_cast<int>(sample_rate)};
  // Samples in wider slots than their bits need: left to libsndfile, which knows the programs.
  if (block_align != 0 && block_align != found.frame_bytes()) return std::nullopt;
  return found;
}

}  // namespace diarist::audio
