// Kernels of dense_tdnn.hpp: one CTA per segment and item, first for the sums over the segment's
// frames, then for the mean over all frames and the two products that make the gates.

#include "backend/cuda/blocks/dense_tdnn.hpp"
#include "backend/cuda/blocks/tile.cuh"

namespace diarist::backend::cuda::blocks {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads) segment_sums(ContextGatesArgs args) {
  const int item = static_cast<int>(blockIdx.y), segment = static_cast<int>(blockIdx.x);
  const int first = segment * kSegmentFrames;
  const int count = min(kSegmentFrames, args.hidden.length(item) - first);
  if (count < 1) return;
  for (int c = static_cast<int>(threadIdx.x); c < args.columns; c += kThreads) {
    const float* const x =
        args.hidden.item(item) + static_cast<std::int64_t>(first) * args.columns + c;
    float sum[4] = {};
    int t = 0;
    for (; t + 4 <= count; t += 4)
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] += x[static_cast<std::int64_t>(t + i) * args.columns];
    for (; t < count; ++t) sum[0] += x[static_cast<std::int64_t>(t) * args.columns];
    args.sums.item(item)[static_cast<std::int64_t>(segment) * args.columns + c] =
        (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

/// One output of a product with a transposed matrix; bias first, then in order.
__device__ __forceinline__ float product(const float* x, const float* weight, int inputs,
                                         int outputs, int output, float bias) {
  float sum = bias;
#pragma unroll 8
  for (int k = 0; k < inputs; ++k) sum = fmaf(x[k], weight[k * outputs + output], sum);
  return sum;
}

__global__ void __launch_bounds__(kThreads) context_gates(ContextGatesArgs args) {
  extern __shared__ float context[];  // [columns], then [middle]
  float* const middle = context + args.columns;
  const int item = static_cast<int>(blockIdx.y), segment = static_cast<int>(blockIdx.x);
  const int frames = args.hidden.length(item);
  const int count = min(kSegmentFrames, frames - segment * kSegmentFrames);
  if (count < 1) return;
  const int segments = (frames + kSegmentFrames - 1) / kSegmentFrames;
  const float* const sums = args.sums.item(item);
  for (int c = static_cast<int>(threadIdx.x); c < args.columns; c += kThreads) {
    float whole = 0;
    for (int s = 0; s < segments; ++s)
      whole += sums[static_cast<std::int64_t>(s) * args.columns + c];
    context[c] =
        whole / static_cast<float>(frames) +
        sums[static_cast<std::int64_t>(segment) * args.columns + c] / static_cast<float>(count);
  }
  __syncthreads();
  for (int o = static_cast<int>(threadIdx.x); o < args.middle; o += kThreads)
    middle[o] =
        activate(product(context, args.weight1, args.columns, args.middle, o, args.bias1[o]), 0.0F);
  __syncthreads();
  for (int o = static_cast<int>(threadIdx.x); o < args.growth; o += kThreads) {
    const float x = product(middle, args.weight2, args.middle, args.growth, o, args.bias2[o]);
    args.gates.item(item)[static_cast<std::int64_t>(segment) * args.growth + o] =
        1.0F / (1.0F + expf(-x));
  }
}

}  // namespace

cudaError_t launch_context_gates(const ContextGatesArgs& args, int items, int longest,
                                 cudaStream_t stream) {
  if (longest < 1) return cudaSuccess;
  if (args.columns + args.middle > 8192) return cudaErrorNotSupported;
  const dim3 grid(static_cast<unsigned>((longest + kSegmentFrames - 1) / kSegmentFrames),
                  static_cast<unsigned>(items));
  segment_sums<<<grid, kThreads, 0, stream>>>(args);
  const auto bytes = static_cast<std::size_t>(args.columns + args.middle) * sizeof(float);
  context_gates<<<grid, kThreads, bytes, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda::blocks
