#pragma once
// Both ends of the front end's convolutions: rows on their way into shared memory, and a warp's
// sums on their way out.

#include "backend/cuda/kernels/front_conv.hpp"
#include "backend/cuda/kernels/split_product.cuh"

namespace diarist::backend::cuda {

/// Of a window's output.
struct FrontExtent {
  int pooled, pieces;
};

/// Rows first .. first + kRows - 1 of a window, normalized, activated, split into high and low
/// halves at place(row, quad of channels) and `part` halves further. Rows behind the window's end
/// are as if they had the mean; no pooled row that exists reads them. kAtOnce loads are under way
/// together.
template <int kChannels, int kThreads, int kRows, int kAtOnce, typename Place>
__device__ __forceinline__ void load_front_rows(const FrontConvArgs& args, int window, int first,
                                                int thread, __half* high, int part,
                                                const Place& place) {
  constexpr int kQuads = kChannels / 4, kSlots = kThreads / kQuads;  // threads of a row; rows
  constexpr int kLoads = (kRows + kSlots - 1) / kSlots;
  if (thread >= kQuads * kSlots) return;
  const int quad = thread % kQuads, slot = thread / kQuads;
  const std::int64_t norm = static_cast<std::int64_t>(window) * kQuads + quad;
  const float4 mean = reinterpret_cast<const float4*>(args.means)[norm];
  const float4 scale = reinterpret_cast<const float4*>(args.scales)[norm];
  const float4 offset = reinterpret_cast<const float4*>(args.offsets)[quad];
  const float4* const x = reinterpret_cast<const float4*>(args.input) +
                          (static_cast<std::int64_t>(window) * args.in_rows + first) * kQuads +
                          quad;
  // Subtracted before it is scaled: exact where all values are alike.
  const auto finished = [](float value, float m, float s, float o) {
    const float y = fmaf(value - m, s, o);
    return fmaxf(y, 0.01F * y);
  };
#pragma unroll
  for (int begin = 0; begin < kLoads; begin += kAtOnce) {
    float4 value[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int row = slot + (begin + i) * kSlots;
      const bool there = row < kRows && first + row < args.in_rows;
      value[i] = there ? __ldcg(x + row * kQuads) : mean;
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int row = slot + (begin + i) * kSlots;
      if (row >= kRows) continue;
      uint2 h, l;
      split_pair(finished(value[i].x, mean.x, scale.x, offset.x),
                 finished(value[i].y, mean.y, scale.y, offset.y), h.x, l.x);
      split_pair(finished(value[i].z, mean.z, scale.z, offset.z),
                 finished(value[i].w, mean.w, scale.w, offset.w), h.y, l.y);
      __half* const target = high + place(row, quad);
      *reinterpret_cast<uint2*>(target) = h;
      *reinterpret_cast<uint2*>(target + part) = l;
    }
  }
}

/// Brings a piece's input rows into L2 while others are in work.
template <int kChannels, int kThreads, int kRows>
__device__ __forceinline__ void prefetch_front_rows(const FrontConvArgs& args, int window,
                                                    int first, int thread) {
  const auto* const x = reinterpret_cast<const char*>(
      args.input + (static_cast<std::int64_t>(window) * args.in_rows + first) * kChannels);
  const int rows = min(kRows, args.in_rows - first);
  for (int i = thread; i < rows * kChannels * 4 / 128; i += kThreads) prefetch_line(x + 128 * i);
}

/// Sum over the 8 lanes that hold the same channels.
__device__ __forceinline__ float front_rows_sum(float value) {
#pragma unroll
  for (int distance = 4; distance < 32; distance *= 2)
    value += __shfl_xor_sync(0xFFFFFFFFU, value, distance);
  return value;
}

/// What a warp holds of its three m-tiles, tile j being rows 3 r + j of the convolution, as the
/// accumulators of m16n8: pools, adds the bias, writes 16 pooled rows of 8 kN channels from
/// `column` on, and their moments.
template <int kN>
__device__ __forceinline__ void store_front_rows(const FrontConvArgs& args,
                                                 const FrontExtent& extent, int window, int piece,
                                                 int column, int lane,
                                                 const float (&sum)[3][kN][4]) {
  const int pooled = extent.pooled, row = piece * kConvPieceRows + (lane >> 2);
  const int rows = min(kConvPieceRows, pooled - piece * kConvPieceRows);
  const float share = 1.0F / static_cast<float>(rows);
  const bool there[2] = {(lane >> 2) < rows, (lane >> 2) + 8 < rows};
  float* const out =
      args.output + (static_cast<std::int64_t>(window) * pooled + row) * kFrontOutputs;
  Moments* const moments =
      args.moments + (static_cast<std::int64_t>(window) * extent.pieces + piece) * kFrontOutputs;
#pragma unroll
  for (int n = 0; n < kN; ++n) {
    const int c = column + n * 8 + 2 * (lane & 3);
    const bool wanted = c < kFrontOutputs;  // the same for both channels of a pair
    const float2 bias =
        wanted ? *reinterpret_cast<const float2*>(args.bias + c) : make_float2(0, 0);
    float value[2][2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float largest =
            fmaxf(fmaxf(sum[0][n][2 * h + e], sum[1][n][2 * h + e]), sum[2][n][2 * h + e]);
        value[h][e] = fmaf(largest, args.unscale, e == 0 ? bias.x : bias.y);
      }
      if (there[h] && wanted)
        *reinterpret_cast<float2*>(out + h * 8 * kFrontOutputs + c) =
            make_float2(value[h][0], value[h][1]);
    }
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float first = __shfl_sync(0xFFFFFFFFU, value[0][e], lane & 3);
      const float a = there[0] ? value[0][e] - first : 0.0F;
      const float b = there[1] ? value[1][e] - first : 0.0F;
      const float mean = front_rows_sum(a + b) * share;
      const float da = there[0] ? a - mean : 0.0F, db = there[1] ? b - mean : 0.0F;
      const float squares = front_rows_sum(fmaf(da, da, db * db));
      if (lane < 4 && wanted) moments[c + e] = {first + mean, squares};
    }
  }
}

}  // namespace diarist::backend::cuda
