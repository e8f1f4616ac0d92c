#pragma once
// FP32-like products on tensor cores: both operands as the sum of two halves, three products of the
// four, FP32 accumulation.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace diarist::backend::cuda {

/// Exponent for split_scale(): the largest magnitude lies in [128, 256).
inline constexpr int kSplitProductExponent = 7;

/// Weights as B fragments of m16n8k16: [depth / 16][columns / 8][32 lanes][8 halves], the eight
/// being the high parts of b0 and b1, then their low parts. \param weight (column, depth) -> value;
/// columns a multiple of 8, depth of 16.
std::vector<std::uint16_t> pack_split(int columns, int depth, float scale,
                                      const std::function<float(int, int)>& weight);

/// Weights as warpgroup products read them unswizzled: [high, low][depth / 8][rows][8 halves].
/// \param weight (row, depth) -> value.
std::vector<std::uint16_t> pack_split_rows(int rows, int depth, float scale,
                                           const std::function<float(int, int)>& weight);

}  // namespace diarist::backend::cuda
