#pragma once
// Samples on their way into the sinc convolution.
//
// They are scaled by 2^12, which holds up to 15.99 in a half and keeps the low parts of quiet
// audio. A strip with louder samples is passed once per level of 12 bits that its rows need: a
// row's level follows from its own samples, so that its bits do not depend on where the strip
// begins.

#include <cuda_fp16.h>

#include <cmath>

#include "backend/cuda/kernels/sinc_mma.hpp"
#include "backend/cuda/kernels/split_product.cuh"

namespace diarist::backend::cuda {

inline constexpr int kSincLevels = 12;  // 2^12 down to 2^-120: all of FP32

/// The level of rows with samples that are not finite, kSincLevels, scales like the one before.
__device__ __forceinline__ float level_scale(int level) {
  return ldexpf(1.0F, 12 - 12 * min(level, kSincLevels - 1));
}
__device__ __forceinline__ float level_unscale(float weight_unscale, int level) {
  return level < kSincLevels ? ldexpf(weight_unscale, 12 * level - 12) : __int_as_float(0x7FC00000);
}

/// Level of the row whose window begins at x: 0 to 11, or 12 with a sample that is not finite.
__device__ inline int level_of_row(const float* x) {
  float largest = 0;
  bool finite = true;
  for (int k = 0; k < kSincTaps; ++k) {
    largest = fmaxf(largest, fabsf(x[k]));
    finite = finite && isfinite(x[k]);
  }
  int level = 0;
  for (float limit = 65504.0F / 4096.0F; largest > limit; limit *= 4096.0F) ++level;
  return finite ? level : kSincLevels;
}

/// kSamples samples to halves by kThreads threads; those from `count` on, and those too loud for
/// the scale, count as 0: no row of this level has a tap on them. \return whether this thread met
/// one that was too loud.
template <int kSamples, int kThreads>
__device__ __forceinline__ bool load_strip(const float* x, int count, float scale, __half* high,
                                           __half* low, int thread) {
  bool loud = false;
#pragma unroll
  for (int i = 0; i < (kSamples + 2 * kThreads - 1) / (2 * kThreads); ++i) {
    const int at = 2 * thread + 2 * kThreads * i;
    if (kSamples % (2 * kThreads) != 0 && at >= kSamples) break;
    float a = at < count ? x[at] * scale : 0.0F;
    float b = at + 1 < count ? x[at + 1] * scale : 0.0F;
    const bool a_fits = fabsf(a) <= 65504.0F, b_fits = fabsf(b) <= 65504.0F;
    loud = loud || !a_fits || !b_fits;
    a = a_fits ? a : 0.0F;
    b = b_fits ? b : 0.0F;
    std::uint32_t h, l;
    split_pair(a, b, h, l);
    *reinterpret_cast<std::uint32_t*>(high + at) = h;
    *reinterpret_cast<std::uint32_t*>(low + at) = l;
  }
  return loud;
}

}  // namespace diarist::backend::cuda
