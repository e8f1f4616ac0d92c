#pragma once
// The device side of split_product.hpp.

#include "backend/cuda/kernels/mma.cuh"

namespace diarist::backend::cuda {

/// Eight halves of a B fragment: high b0, b1, low b0, b1. From shared memory when the weights stay
/// there for the whole launch, else through the read-only cache.
template <bool kResident>
__device__ __forceinline__ uint4 weight_fragment(const uint4* weights, int index) {
  if constexpr (kResident) return weights[index];
  return __ldg(weights + index);
}

/// d[m][n] += (high + low)[m] * weights[n] without low * low: one k-step of 16. The three products
/// go round over all tiles, so that an accumulator is not waited for; small terms come first.
template <int kM, int kN>
__device__ __forceinline__ void multiply_split(float (&d)[kM][kN][4],
                                               const std::uint32_t (&high)[kM][4],
                                               const std::uint32_t (&low)[kM][4],
                                               const uint4 (&weights)[kN]) {
#pragma unroll
  for (int product = 0; product < 3; ++product)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        if (product == 0) multiply_add(d[m][n], low[m], weights[n].x, weights[n].y);
        if (product == 1) multiply_add(d[m][n], high[m], weights[n].z, weights[n].w);
        if (product == 2) multiply_add(d[m][n], high[m], weights[n].x, weights[n].y);
      }
}

/// Two values as halves and what the halves leave over.
__device__ __forceinline__ void split_pair(float first, float second, std::uint32_t& high,
                                           std::uint32_t& low) {
  high = packed_halves(first, second);
  const float2 rounded = unpacked_halves(high);
  low = packed_halves(first - rounded.x, second - rounded.y);
}

}  // namespace diarist::backend::cuda
