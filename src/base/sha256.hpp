#pragma once
// SHA-256 (FIPS 180-4).

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace diarist::base {

class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> bytes);
  /// 64 lower-case hex digits. The object can't be used afterwards.
  std::string finish();

 private:
  void blocks(const std::uint8_t* bytes, std::size_t count);
  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> pending_;
  std::uint64_t length_ = 0;
};

std::string sha256_hex(std::span<const std::byte> bytes);
std::string sha256_file(const std::filesystem::path& file);

}  // namespace diarist::base
