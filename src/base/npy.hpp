#pragma once
// NumPy .npy arrays (format 1.0 to 3.0, C or Fortran order, little endian) and .npz archives.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.hpp"

namespace diarist::base {

/// One array as it lies in the file. `descr` is NumPy's type string, e.g. "<f4".
struct NpyArray {
  std::string descr;
  Shape shape;
  std::vector<std::byte> data;  // C order

  /// Numbers converted to T (float, double, std::int8_t, std::int32_t, std::int64_t, std::uint8_t)
  /// from any of f2 f4 f8, i1..i8, u1..u8, bool. \throws Error kBadFile for other types, and for
  /// numbers that an integer T can't hold exactly.
  template <typename T>
  std::vector<T> as(const std::string& source) const;
};

/// Bounds-checked. \throws Error kBadFile naming `source`.
NpyArray parse_npy(std::span<const std::byte> bytes, const std::string& source);
NpyArray read_npy(const std::filesystem::path& file);

/// All arrays of an .npz, by name without ".npy".
std::map<std::string, NpyArray> parse_npz(std::span<const std::byte> bytes,
                                          const std::string& source);
std::map<std::string, NpyArray> read_npz(const std::filesystem::path& file);

/// Bytes of a format 1.0 file. T: float, double, std::uint8_t, std::int8_t, std::int32_t,
/// std::int64_t. \throws Error kInvalidArgument when shape and number of values differ.
template <typename T>
std::vector<std::byte> to_npy(const Shape& shape, std::span<const T> values);

}  // namespace diarist::base
