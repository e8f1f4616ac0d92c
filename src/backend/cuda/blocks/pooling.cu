// Kernels of pooling.hpp. A warp makes one row of a map for all speakers, or one output of a head:
// lane l takes elements l, l + 32, ..., and a butterfly adds the lanes.

#include "backend/cuda/blocks/pooling.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

constexpr int kWarps = 8, kRowsAtOnce = 4;

__device__ __forceinline__ float warp_sum(float x) {
  for (int offset = 16; offset > 0; offset >>= 1) x += __shfl_xor_sync(0xFFFFFFFFU, x, offset);
  return x;
}

__device__ __forceinline__ float mask_at(const MaskedStatisticsArgs& args, int item, int speaker,
                                         int t, int time) {
  const std::int64_t frame = static_cast<std::int64_t>(t) * args.mask_frames / time;
  const std::int64_t at = static_cast<std::int64_t>(speaker) * args.mask_frames + frame;
  return args.masks.base != nullptr ? args.masks.item(item)[at]
                                    : static_cast<float>(args.bytes.item(item)[at]);
}

// The denominators are part of the model's definition in f32, in this order and without fusing:
// the 1e-8 vanishes behind any set frame, so that a single frame has no deviation at all.
__global__ void mask_totals(MaskedStatisticsArgs args) {
  const int item = static_cast<int>(blockIdx.x), time = args.map.length(item);
  for (int s = static_cast<int>(threadIdx.x); s < args.speakers;
       s += static_cast<int>(blockDim.x)) {
    float sum = 0, squares = 0;
    for (int t = 0; t < time; ++t) {
      const float w = mask_at(args, item, s, t, time);
      sum = __fadd_rn(sum, w);
      squares = __fadd_rn(squares, __fmul_rn(w, w));
    }
    const float v1 = __fadd_rn(sum, 1e-8F);
    args.totals.item(item)[2 * s] = v1;
    args.totals.item(item)[2 * s + 1] = __fadd_rn(__fsub_rn(v1, __fdiv_rn(squares, v1)), 1e-8F);
  }
}

__global__ void __launch_bounds__(kWarps * 32) masked_statistics(MaskedStatisticsArgs args) {
  const int lane = static_cast<int>(threadIdx.x) % 32, item = static_cast<int>(blockIdx.y);
  const int row = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
  if (row >= args.rows) return;
  const int time = args.map.length(item);
  const float* const x = args.map.item(item) + static_cast<std::int64_t>(row) * time;
  for (int s = 0; s < args.speakers; ++s) {
    const float v1 = args.totals.item(item)[2 * s], v2 = args.totals.item(item)[2 * s + 1];
    float sum = 0;
    for (int t = lane; t < time; t += 32) sum = fmaf(mask_at(args, item, s, t, time), x[t], sum);
    const float mean = warp_sum(sum) / v1;
    sum = 0;
    for (int t = lane; t < time; t += 32) {
      const float difference = x[t] - mean;
      sum = fmaf(mask_at(args, item, s, t, time) * difference, difference, sum);
    }
    sum = warp_sum(sum);
    float* const out = args.statistics.item(item) + static_cast<std::int64_t>(s) * 2 * args.rows;
    if (lane == 0) out[row] = mean;
    if (lane == 0) out[args.rows + row] = sqrtf(sum / v2);
  }
}

__global__ void __launch_bounds__(kWarps * 32) head(HeadArgs args) {
  const int lane = static_cast<int>(threadIdx.x) % 32, item = static_cast<int>(blockIdx.y);
  const int output = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
  if (output >= args.outputs) return;
  const float* const w = args.weight + static_cast<std::int64_t>(output) * args.inputs;
  for (int row0 = 0; row0 < args.rows; row0 += kRowsAtOnce) {
    const float* const x =
        args.statistics.item(item) + static_cast<std::int64_t>(row0) * args.inputs;
    const int rows = min(kRowsAtOnce, args.rows - row0);
    float sum[kRowsAtOnce] = {};
#pragma unroll 4
    for (int k = lane; k < args.inputs; k += 32) {
      const float weight = w[k];
#pragma unroll
      for (int r = 0; r < kRowsAtOnce; ++r)
        if (r < rows)
          sum[r] = fmaf(weight, x[static_cast<std::int64_t>(r) * args.inputs + k], sum[r]);
    }
#pragma unroll
    for (int r = 0; r < kRowsAtOnce; ++r) {
      const float total = warp_sum(sum[r]);
      if (lane == 0 && r < rows)
        args.embeddings.item(item)[static_cast<std::int64_t>(row0 + r) * args.outputs + output] =
            args.bias[output] + total;
    }
  }
}

dim3 grid_of(int count, int items) {
  return dim3(static_cast<unsigned>((count + kWarps - 1) / kWarps), static_cast<unsigned>(items));
}

}  // namespace

cudaError_t launch_masked_statistics(const MaskedStatisticsArgs& args, int items,
                                     cudaStream_t stream) {
  mask_totals<<<static_cast<unsigned>(items), 32, 0, stream>>>(args);
  masked_statistics<<<grid_of(args.rows, items), kWarps * 32, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_head(const HeadArgs& args, int items, cudaStream_t stream) {
  head<<<grid_of(args.outputs, items), kWarps * 32, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda::blocks
