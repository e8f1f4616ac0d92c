#pragma once
// What the readers of weight files share: number types and checked shapes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.hpp"

namespace diarist::model::detail {

/// How a file stores one number. kInteger stands for all integer and truth types: they are left out
/// of a Checkpoint, whatever their width.
enum class NumberType { kF16, kBf16, kF32, kF64, kInteger };

/// Bytes of one number; 0 for kInteger.
std::size_t number_bytes(NumberType type) noexcept;

/// Number of elements. \throws Error kBadFile for negative dimensions, more than 64 of them, and
/// shapes whose product (zeros left out) passes 2^40.
std::uint64_t checked_count(const base::Shape& shape, std::string_view source,
                            std::string_view tensor);

/// bytes.size() / number_bytes(type) numbers, rounded to nearest for kF64, exact otherwise.
std::vector<float> to_floats(std::span<const std::byte> bytes, NumberType type);

/// A tensor from bytes that must hold exactly the numbers of its shape.
base::TensorF make_tensor(base::Shape shape, std::span<const std::byte> bytes, NumberType type,
                          std::string_view source, std::string_view tensor);

}  // namespace diarist::model::detail
