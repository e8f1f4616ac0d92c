#pragma once
// The same 16-bit samples as bytes and as the values they stand for.

#include <fstream>
#include <iterator>

#include "support/odd_audio.hpp"

namespace diarist::test {

inline std::string pcm_bytes(std::size_t count = 1001) {
  std::string bytes;
  for (const std::int16_t value : to_pcm16(test_signal(static_cast<std::int64_t>(count))))
    bytes += little(static_cast<std::uint16_t>(value), 2);
  return bytes;
}

inline std::vector<float> pcm_values(std::size_t count = 1001) {
  std::vector<float> values;
  for (const std::int16_t v : to_pcm16(test_signal(static_cast<std::int64_t>(count))))
    values.push_back(static_cast<float>(v) / 32768.0F);
  return values;
}

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A Wave64 chunk; `size` is that of its body, or what stands in its header (which counts itself).
inline std::string wave64_chunk(std::string_view id, std::string_view body,
                                std::int64_t announced = -1) {
  static constexpr unsigned char kTail[] = {0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1,
                                            0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A};
  const std::uint64_t size =
      announced < 0 ? body.size() + 24 : static_cast<std::uint64_t>(announced);
  std::string bytes = std::string(id) + std::string(reinterpret_cast<const char*>(kTail), 12) +
                      little(size, 8) + std::string(body);
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

inline std::string wave64_file(std::string_view chunks) {
  static constexpr unsigned char kRiff[] = {0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6,
                                            0x28, 0xDB, 0x04, 0xC1, 0x00, 0x00};
  return "riff" + std::string(reinterpret_cast<const char*>(kRiff), 12) +
         little(40 + chunks.size(), 8) + wave64_chunk("wave", "").substr(0, 16) +
         std::string(chunks);
}

}  // namespace diarist::test
