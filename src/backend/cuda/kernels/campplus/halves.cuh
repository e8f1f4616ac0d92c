#pragma once
// Small steps between FP32 sums and halves, shared by CAM++'s kernels.

#include <cuda_fp16.h>

#include <cstdint>

#include "backend/cuda/kernels/mma.cuh"

namespace diarist::backend::cuda::campplus {

__device__ __forceinline__ std::uint32_t pair_of(__half first, __half second) {
  const __half2 pair = __halves2half2(first, second);
  std::uint32_t word = 0;
  std::memcpy(&word, &pair, sizeof(word));
  return word;
}

/// max(x, 0) that keeps NaN, so that a range watch sees it.
__device__ __forceinline__ float rectified(float x) { return x < 0 ? 0.0F : x; }

__device__ __forceinline__ void store_shared_16(std::uint32_t address,
                                                const std::uint32_t (&words)[4]) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(address), "r"(words[0]), "r"(words[1]),
               "r"(words[2]), "r"(words[3])
               : "memory");
}

/// x += eight neighbouring channels of a pixel, packed halves.
__device__ __forceinline__ void add_halves(float (&x)[8], const uint4& bits) {
  const std::uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = unpacked_halves(words[i]);
    x[2 * i] += pair.x;
    x[2 * i + 1] += pair.y;
  }
}

/// Eight numbers as clamped halves: with kParts 2, words[1] holds what words[0] lost.
template <int kParts>
struct PixelHalves {
  __device__ __forceinline__ PixelHalves(const float (&x)[8], bool rectify) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float a = rectify ? rectified(x[2 * i]) : x[2 * i];
      const float b = rectify ? rectified(x[2 * i + 1]) : x[2 * i + 1];
      const std::uint32_t word = packed_halves(a, b);
      watch.see(word);
      words[0][i] = clamped_halves(word);
      if constexpr (kParts == 2) {
        const float2 high = unpacked_halves(words[0][i]);
        words[1][i] = clamped_halves(packed_halves(a - high.x, b - high.y));
      }
    }
  }
  __device__ __forceinline__ bool overflowed() const { return watch.overflowed(); }
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int part = 0; part < kParts; ++part)
#pragma unroll
      for (int i = 0; i < 4; ++i) words[part][i] = 0;
  }

  std::uint32_t words[kParts][4];
  RangeWatch watch;
};

}  // namespace diarist::backend::cuda::campplus
