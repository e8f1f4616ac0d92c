#pragma once
// A bounds-checked cursor over bytes that came from outside, and the small floats found in them.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.hpp"

namespace diarist::base {

static_assert(std::endian::native == std::endian::little, "files are read as little endian");

/// Number at the start of `bytes`, little endian. The caller has checked that sizeof(T) bytes
/// exist.
template <typename T>
T load_le(const std::byte* bytes) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

inline std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads forward through a span and never past its end. Bytes and source must outlive the reader.
/// \throws Error kBadFile naming the source and what was being read.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view source)
      : bytes_(bytes), source_(source) {}

  std::size_t position() const noexcept { return position_; }
  std::size_t remaining() const noexcept { return bytes_.size() - position_; }
  bool at_end() const noexcept { return position_ == bytes_.size(); }
  std::string_view source() const noexcept { return source_; }
  /// Everything, read or not.
  std::span<const std::byte> bytes() const noexcept { return bytes_; }

  std::span<const std::byte> take(std::uint64_t count, std::string_view what) {
    if (count > remaining()) {
      fail(ErrorCode::kBadFile,
           "{}: the file is damaged or cut short ({} at byte {} is incomplete)", source_, what,
           position_);
    }
    const auto part = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += part.size();
    return part;
  }

  template <typename T>
  T le(std::string_view what) {
    return load_le<T>(take(sizeof(T), what).data());
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view source_;
  std::size_t position_ = 0;
};

/// IEEE 754 binary16 to float, exactly (subnormals, infinities and NaN included).
inline float half_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24, exact in float
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t widened = exponent == 31 ? 255 : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (widened << 23) | (fraction << 13));
}

/// bfloat16 to float: the upper half of a float's bits.
inline float bfloat16_to_float(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace diarist::base
