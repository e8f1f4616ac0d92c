#pragma once
// What the recurrence kernels share: the products of a step and the cell.
//
// A warp owns 8 units and makes two tiles of 16 rows: input gates over forget gates, candidates
// over output gates. A thread then holds all four gates of unit lane/4 and windows 2*(lane%4), + 1.

#include "backend/cuda/kernels/lstm.hpp"
#include "backend/cuda/kernels/mma.cuh"

namespace diarist::backend::cuda {

constexpr int kStateRow = kLstmUnits + 8;  // halves: rows of states shift by four banks

/// Weights of 16 rows x 16 units as the first operand of a product.
struct WeightFragment {
  std::uint32_t words[4];
};
using WarpWeights = WeightFragment[2][8];  // tiles, steps along the units

/// One unit's gates for two windows, without the input products.
struct GateSums {
  float input[2], forget[2], candidate[2], output[2];
};

/// Recurrent products of 8 windows. `high`, `low`: addresses of the states' parts, [8][kStateRow].
/// `weight_low(tile, k)` gives the fragment of low parts. The three products have sums of their
/// own, added up at the end.
template <typename WeightLow>
__device__ __forceinline__ GateSums recurrent_sums(const WarpWeights& weight,
                                                   const WeightLow& weight_low, std::uint32_t high,
                                                   std::uint32_t low) {
  float main[2][4] = {}, first[2][4] = {}, second[2][4] = {};
  const std::uint32_t lane = threadIdx.x & 31;
  const std::uint32_t at = (lane & 7) * (kStateRow * 2) + (lane >> 3) * 16;
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    std::uint32_t h[4], l[4];
    load_matrices(high + at + pair * 64, h);
    load_matrices(low + at + pair * 64, l);
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int tile = 0; tile < 2; ++tile) {
        const int k = 2 * pair + half;
        multiply_add(main[tile], weight[tile][k].words, h[2 * half], h[2 * half + 1]);
        multiply_add(first[tile], weight[tile][k].words, l[2 * half], l[2 * half + 1]);
        const WeightFragment corrections = weight_low(tile, k);
        multiply_add(second[tile], corrections.words, h[2 * half], h[2 * half + 1]);
      }
  }
  GateSums sums;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    sums.input[e] = main[0][e] + (first[0][e] + second[0][e]);
    sums.forget[e] = main[0][2 + e] + (first[0][2 + e] + second[0][2 + e]);
    sums.candidate[e] = main[1][e] + (first[1][e] + second[1][e]);
    sums.output[e] = main[1][2 + e] + (first[1][2 + e] + second[1][2 + e]);
  }
  return sums;
}

/// 2^min(x, 40): exponents are clamped so that a product of three sums stays finite. NaN remains.
__device__ __forceinline__ float bounded_power(float x) {
  float y;
#if __CUDA_ARCH__ >= 800
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(40.0F));
#else
  x = x > 40.0F ? 40.0F : x;
#endif
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// What turns gate sums into exponents: products come ready made (kGateFactor).
struct GateScale {
  float sigmoid, tangent;
};

__device__ __forceinline__ GateScale gate_scale(const LstmArgs& args, int direction) {
  const float unscale = direction == 0 ? args.unscale[0] : args.unscale[1];
  return {unscale * kGateFactor, unscale * 2 * kGateFactor};
}

/// Advances a cell by one step and returns its state times kStateScale. `product`: the input
/// products of the four gates. Sigmoids and tangents that are multiplied share a reciprocal.
__device__ __forceinline__ float advance_cell(const GateSums& sums, int e, const float4& product,
                                              const GateScale& scale, float& cell) {
  const float ei = bounded_power(fmaf(sums.input[e], scale.sigmoid, product.x));
  const float ef = bounded_power(fmaf(sums.forget[e], scale.sigmoid, product.y));
  const float eg = bounded_power(fmaf(sums.candidate[e], scale.tangent, product.z));
  const float eo = bounded_power(fmaf(sums.output[e], scale.sigmoid, product.w));
  const float pf = 1 + ef, pipg = (1 + ei) * (1 + eg);
  cell = fmaf(cell, pipg, (1 - eg) * pf) * reciprocal(pipg * pf);
  const float ec = bounded_power(2 * kGateFactor * cell);
  return fmaf(-kStateScale, ec, kStateScale) * reciprocal((1 + ec) * (1 + eo));
}

/// Reads the fragments of one warp: part 0 high, 1 low.
__device__ __forceinline__ void load_weights(const void* packed, int direction, int part,
                                             int unit_block, WarpWeights& weight) {
  const uint4* source = static_cast<const uint4*>(packed) +
                        (((direction * 2 + part) * 16 + unit_block) * 2) * 8 * 32 +
                        (threadIdx.x & 31);
#pragma unroll
  for (int tile = 0; tile < 2; ++tile)
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const uint4 words = __ldg(source + (tile * 8 + k) * 32);
      weight[tile][k] = {{words.x, words.y, words.z, words.w}};
    }
}

/// Frame of a step.
__device__ __forceinline__ int frame_of(const LstmArgs& args, int direction, int step) {
  return direction == 0 ? step : args.frames - 1 - step;
}

/// Row of a step within `products`: the reverse direction's stretch lies there in frame order.
__device__ __forceinline__ int product_row(const LstmArgs& args, int direction, int local_step) {
  return direction == 0 ? local_step : args.steps - 1 - local_step;
}

}  // namespace diarist::backend::cuda
