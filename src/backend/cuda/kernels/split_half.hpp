#pragma once
// Halves and the scale of what is split into them, for packing on the host.

#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

namespace diarist::backend::cuda {

/// The nearest half of a value (part 0), or of what that leaves over (part 1).
inline std::uint16_t split_half(float value, int part) {
  const __half high = __float2half_rn(value);
  const __half half = part == 0 ? high : __float2half_rn(value - __half2float(high));
  std::uint16_t bits = 0;
  std::memcpy(&bits, &half, sizeof(bits));
  return bits;
}

/// The power of two that brings the largest magnitude into [2^exponent, 2^(exponent + 1)), so that
/// low parts lie above the subnormal halves; 1 for zeros and for numbers that are not finite.
inline float split_scale(std::span<const float> values, int exponent) {
  float largest = 0;
  for (const float value : values) largest = std::fmax(largest, std::fabs(value));
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0F, exponent - std::ilogb(largest));
}

}  // namespace diarist::backend::cuda
