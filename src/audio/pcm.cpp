#include "audio/pcm.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace diarist::audio {
namespace {

constexpr int u8(std::byte b) { return std::to_integer<int>(b); }

std::uint32_t little32(const std::byte* p) {
  return static_cast<std::uint32_t>(u8(p[0])) | static_cast<std::uint32_t>(u8(p[1])) << 8 |
         static_cast<std::uint32_t>(u8(p[2])) << 16 | static_cast<std::uint32_t>(u8(p[3])) << 24;
}

// ITU-T G.711, table 2a: codes have their even bits inverted, values are left-justified 13 bits.
constexpr int a_law_value(int code) {
  code ^= 0x55;
  const int exponent = (code >> 4) & 7;
  const int mantissa = code & 15;
  const int magnitude =
      exponent == 0 ? (mantissa << 4) + 8 : ((mantissa << 4) + 0x108) << (exponent - 1);
  return (code & 0x80) != 0 ? magnitude : -magnitude;
}

// ITU-T G.711, table 2b: codes are inverted, values are left-justified 14 bits with a bias of 33.
constexpr int mu_law_value(int code) {
  code = ~code & 0xff;
  const int magnitude = ((((code & 15) << 3) + 0x84) << ((code >> 4) & 7)) - 0x84;
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

template <typename Value>
constexpr std::array<float, 256> table_of(Value value) {
  std::array<float, 256> table{};
  for (int code = 0; code < 256; ++code) {
    table[static_cast<std::size_t>(code)] = static_cast<float>(value(code)) / 32768.0F;
  }
  return table;
}

constexpr std::array<float, 256> kALawTable = table_of(a_law_value);
constexpr std::array<float, 256> kMuLawTable = table_of(mu_law_value);

template <std::size_t kBytes, typename Value>
void each(std::span<const std::byte> bytes, std::span<float> out, Value value) {
  const std::byte* p = bytes.data();
  for (float& sample : out) {
    sample = value(p);
    p += kBytes;
  }
}

}  // namespace

std::size_t sample_bytes(Encoding encoding) {
  switch (encoding) {
    case Encoding::kU8:
    case Encoding::kALaw:
    case Encoding::kMuLaw:
      return 1;
    case Encoding::kS16:
    case Encoding::kS16Big:
      return 2;
    case Encoding::kS24:
      return 3;
    case Encoding::kS32:
    case Encoding::kF32:
      return 4;
    case Encoding::kF64:
      return 8;
  }
  return 1;
}

void decode_pcm(Encoding encoding, std::span<const std::byte> bytes, std::span<float> out) {
  out = out.first(std::min(out.size(), bytes.size() / sample_bytes(encoding)));
  switch (encoding) {
    case Encoding::kU8:
      return each<1>(bytes, out, [](const std::byte* p) {
        return static_cast<float>(u8(*p) - 128) * (1.0F / 128.0F);
      });
    case Encoding::kS16:
      return each<2>(bytes, out, [](const std::byte* p) {
        return static_cast<float>(static_cast<std::int16_t>(u8(p[0]) | u8(p[1]) << 8)) *
               (1.0F / 32768.0F);
      });
    case Encoding::kS16Big:
      return each<2>(bytes, out, [](const std::byte* p) {
        return static_cast<float>(static_cast<std::int16_t>(u8(p[1]) | u8(p[0]) << 8)) *
               (1.0F / 32768.0F);
      });
    case Encoding::kS24:
      return each<3>(bytes, out, [](const std::byte* p) {
        const auto high = static_cast<std::int8_t>(u8(p[2]));
        return static_cast<float>(high * 65536 + (u8(p[0]) | u8(p[1]) << 8)) * (1.0F / 8388608.0F);
      });
    case Encoding::kS32:
      return each<4>(bytes, out, [](const std::byte* p) {
        return static_cast<float>(static_cast<std::int32_t>(little32(p))) * (1.0F / 2147483648.0F);
      });
    case Encoding::kF32:
      return each<4>(bytes, out,
                     [](const std::byte* p) { return std::bit_cast<float>(little32(p)); });
    case Encoding::kF64:
      return each<8>(bytes, out, [](const std::byte* p) {
        const std::uint64_t bits = little32(p) | static_cast<std::uint64_t>(little32(p + 4)) << 32;
        return static_cast<float>(std::bit_cast<double>(bits));
      });
    case Encoding::kALaw:
      return each<1>(bytes, out, [](const std::byte* p) {
        return kALawTable[static_cast<std::size_t>(u8(*p))];
      });
    case Encoding::kMuLaw:
      return each<1>(bytes, out, [](const std::byte* p) {
        return kMuLawTable[static_cast<std::size_t>(u8(*p))];
      });
  }
}

}  // namespace diarist::audio
