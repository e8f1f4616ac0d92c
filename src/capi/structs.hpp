#pragma once
// Structs that begin with their size, between programs and libraries of different age.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "capi/guard.hpp"

namespace diarist::capi {

// No struct will be larger; what is, was never set.
inline constexpr std::size_t kMostStructBytes = 4096;

/// \param first_size of the struct in the first version of the interface.
inline void check_struct_size(std::size_t size, std::size_t first_size, std::string_view name) {
  if (size < first_size || size > kMostStructBytes)
    refuse(std::string(name) + ": struct_size is " + std::to_string(size) +
           ", which it never was; set it with the init function, or to sizeof");
}

/// The caller's struct as this library knows it: `defaults` where it has no member.
/// \throws Error kInvalidArgument for a size that can't be, kUnsupported for members set that this
/// library doesn't have.
template <typename T>
T read_struct(const T* given, const T& defaults, std::string_view name) {
  if (given == nullptr) return defaults;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  check_struct_size(size, sizeof(T), name);
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (std::any_of(bytes + std::min(sizeof(T), size), bytes + size,
                  [](unsigned char byte) { return byte != 0; }))
    throw Error(ErrorCode::kUnsupported,
                std::string(name) +
                    ": has options set that this library is too old for; leave them at zero");
  T known = defaults;
  std::memcpy(&known, given, std::min(sizeof(T), size));
  known.struct_size = sizeof(T);
  return known;
}

/// Writes as much of `values` as the caller's struct has room for, and zeros behind.
/// \param size of the caller's struct.
template <typename T>
void write_struct(T* given, std::size_t size, T values, std::string_view name) {
  not_null(given, name);
  check_struct_size(size, sizeof(T), name);
  values.struct_size = size;
  std::memset(given, 0, size);
  std::memcpy(given, &values, std::min(sizeof(T), size));
}

}  // namespace diarist::capi
