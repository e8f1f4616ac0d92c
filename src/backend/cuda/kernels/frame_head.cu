// Kernel of the dense layers (frame_head.hpp).
//
// A CTA takes 64 rows (frames of windows) through all three layers. Eight warps make 64 x 128
// outputs of a layer, 32 x 32 each, from slabs of 32 along K: a stage of the ring of four holds a
// slab of the rows and one of the weights, 24 KB with both parts. The first layer's outputs, four
// slabs of split halves, take the places of the rows in the four stages while the second layer's
// weights arrive beside them; its outputs take the same places for the classifier, which four warps
// make for 16 rows each with weights from L1. 96 KB of shared memory. A row's sums run in one
// order, whatever stands beside it.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/frame_head.hpp"
#include "backend/cuda/kernels/split_tile.cuh"

namespace diarist::backend::cuda {
namespace {

constexpr int kRows = 64, kThreads = 256, kStages = 4;
constexpr int kRowPart = kRows * kSlabRowBytes, kWeightPart = kFrameHidden * kSlabRowBytes;
constexpr int kStageBytes = 2 * (kRowPart + kWeightPart);
static_assert(kStages * kStageBytes == kFrameHeadShared);
constexpr int kFirstSlabs = kFrameColumns / kSlabDepth, kHiddenSlabs = kFrameHidden / kSlabDepth;
static_assert(kHiddenSlabs == kStages);

__device__ __forceinline__ void copy_rows(const FrameHeadArgs& args, int row0, std::uint32_t stage,
                                          int slab) {
  const int piece = static_cast<int>(threadIdx.x & 3), part = (threadIdx.x >> 2) & 1;
#pragma unroll
  for (int i = 0; i < kRows / 32; ++i) {
    const int row = static_cast<int>(threadIdx.x >> 3) + 32 * i;
    const bool valid = row0 + row < args.frames * args.windows;
    const __half* source = args.rows + std::int64_t{valid ? row0 + row : 0} * (2 * kFrameColumns) +
                           part * kFrameColumns + slab * kSlabDepth + piece * 8;
    copy_16(stage + part * kRowPart + slab_piece(row, piece), source, valid);
  }
}

__device__ __forceinline__ void copy_weights(const __half* weights, int depth, std::uint32_t stage,
                                             int slab) {
  const int piece = static_cast<int>(threadIdx.x & 3), part = (threadIdx.x >> 2) & 1;
#pragma unroll
  for (int i = 0; i < kFrameHidden / 32; ++i) {
    const int row = static_cast<int>(threadIdx.x >> 3) + 32 * i;
    copy_16(stage + 2 * kRowPart + part * kWeightPart + slab_piece(row, piece),
            weights + row * 2 * depth + part * depth + slab * kSlabDepth + piece * 8, true);
  }
}

// Where a row's values go in a tap.
__device__ __forceinline__ float* tap_row(const FrameHeadArgs& args, const FrameTap& tap, int row,
                                          int columns) {
  if (tap.data == nullptr) return nullptr;
  const int window = row % args.windows, frame = row / args.windows;
  if (frame >= args.frames || window >= args.count) return nullptr;
  return tap.data + window * tap.stride + frame * columns;
}

using WarpSums = float[2][4][4];

// Bias, leaky ReLU, and the outputs as split halves where the next layer reads its rows.
__device__ __forceinline__ void finish_hidden(const FrameHeadArgs& args, int layer,
                                              const WarpSums& sum, std::uint32_t base, int row,
                                              int column, int row0, const FrameTap& tap) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  const float unscale = args.unscale[layer], scale = args.scale[layer];
  const float* const bias = args.bias + layer * kFrameHidden;
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const int c = column + 8 * n + 2 * (lane & 3);
    const float2 b = *reinterpret_cast<const float2*>(bias + c);
    const std::uint32_t slab = base + c / kSlabDepth * kStageBytes;
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = row + 16 * m + 8 * half + (lane >> 2);
        float x = fmaf(sum[m][n][2 * half], unscale, b.x);
        float y = fmaf(sum[m][n][2 * half + 1], unscale, b.y);
        x = x < 0 ? 0.01F * x : x;
        y = y < 0 ? 0.01F * y : y;
        if (float* const target = tap_row(args, tap, row0 + r, kFrameHidden); target != nullptr) {
          target[c] = x;
          target[c + 1] = y;
        }
        std::uint32_t high, low;
        split_pair(x * scale, y * scale, high, low);
        const std::uint32_t at = slab + slab_piece(r, c % kSlabDepth / 8) + (c & 7) * 2;
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(high) : "memory");
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(at + kRowPart), "r"(low) : "memory");
      }
  }
}

// One row's seven scores: the decision, and the taps. Every lane of four has all scores.
__device__ __forceinline__ void finish_row(const FrameHeadArgs& args, int row,
                                           const float (&score)[kFrameClasses]) {
  const int window = row % args.windows, frame = row / args.windows;
  if (frame >= args.frames || window >= args.count || (threadIdx.x & 3) != 0) return;
  // Nothing is greater than a NaN: all NaN is class 0.
  int best = 0;
  float top = score[0];
#pragma unroll
  for (int c = 1; c < kFrameClasses; ++c)
    if (score[c] > top) {
      top = score[c];
      best = c;
    }
  args.classes[static_cast<std::int64_t>(window) * args.frames + frame] =
      static_cast<std::uint8_t>(best);
  if (float* const target = tap_row(args, args.logits, row, kFrameClasses); target != nullptr)
#pragma unroll
    for (int c = 0; c < kFrameClasses; ++c) target[c] = score[c];
  if (float* const target = tap_row(args, args.log_probabilities, row, kFrameClasses);
      target != nullptr) {
    float total = 0;
#pragma unroll
    for (int c = 0; c < kFrameClasses; ++c) total += expf(score[c] - top);
#pragma unroll
    for (int c = 0; c < kFrameClasses; ++c) target[c] = score[c] - top - logf(total);
  }
}

__global__ void __launch_bounds__(kThreads, 2) frame_head(FrameHeadArgs args) {
  extern __shared__ __align__(128) std::uint8_t bytes[];
  const std::uint32_t base = shared_address(bytes);
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
  const int row0 = static_cast<int>(blockIdx.x) * kRows;
  const int row = (warp >> 2) * 32, column = (warp & 3) * 32;
  // Loads 0 to 7 bring slabs of rows and of the first weights, 8 to 11 those of the second.
  const auto load = [&](int index) {
    const std::uint32_t stage = base + index % kStages * kStageBytes;
    if (index < kFirstSlabs) {
      copy_rows(args, row0, stage, index);
      copy_weights(args.first, kFrameColumns, stage, index);
    } else {
      copy_weights(args.second, kFrameHidden, stage, index - kFirstSlabs);
    }
    commit_copies();
  };
  const auto multiply = [&](WarpSums& sum, int stage_index) {
    const std::uint32_t stage = base + stage_index * kStageBytes;
    add_split_slab<2, 2>(sum, stage, kRowPart, row, stage + 2 * kRowPart, kWeightPart, column);
  };
#pragma unroll
  for (int index = 0; index < kStages - 1; ++index) load(index);
  {
    WarpSums sum = {};
#pragma unroll 1
    for (int slab = 0; slab < kFirstSlabs; ++slab) {
      wait_copies<kStages - 2>();
      __syncthreads();
      load(slab + kStages - 1);
      multiply(sum, slab % kStages);
    }
    __syncthreads();
    load(kFirstSlabs + kHiddenSlabs - 1);
    finish_hidden(args, 0, sum, base, row, column, row0, args.linear0);
  }
  wait_copies<0>();
  __syncthreads();
  {
    WarpSums sum = {};
#pragma unroll 1
    for (int slab = 0; slab < kHiddenSlabs; ++slab) multiply(sum, slab);
    __syncthreads();
    finish_hidden(args, 1, sum, base, row, column, row0, args.linear1);
  }
  __syncthreads();
  if (warp >= kRows / 16) return;
  float sum[4] = {};
  const uint4* const last = static_cast<const uint4*>(args.last) + lane;
#pragma unroll
  for (int k = 0; k < kFrameHidden / 16; ++k) {
    const std::uint32_t stage = base + k / 2 * kStageBytes;
    const uint4 w = __ldg(last + 32 * k);  // high pair, low pair
    std::uint32_t high[4], low[4];
    load_left(stage, 16 * warp, k & 1, high);
    load_left(stage + kRowPart, 16 * warp, k & 1, low);
    multiply_add(sum, high, w.x, w.y);
    multiply_add(sum, high, w.z, w.w);
    multiply_add(sum, low, w.x, w.y);
  }
  const float2 bias =
      *reinterpret_cast<const float2*>(args.bias + 2 * kFrameHidden + 2 * (lane & 3));
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float mine[2] = {fmaf(sum[2 * half], args.unscale[2], bias.x),
                           fmaf(sum[2 * half + 1], args.unscale[2], bias.y)};
    float score[kFrameClasses];
#pragma unroll
    for (int c = 0; c < kFrameClasses; ++c)
      score[c] = __shfl_sync(0xFFFFFFFFU, mine[c & 1], (lane & ~3) + c / 2);
    finish_row(args, row0 + 16 * warp + 8 * half + (lane >> 2), score);
  }
}

}  // namespace

cudaError_t prepare_frame_head() {
  const cudaError_t error = cudaFuncSetAttribute(
      frame_head, cudaFuncAttributeMaxDynamicSharedMemorySize, kFrameHeadShared);
  if (error != cudaErrorInvalidValue) return error;
  cudaGetLastError();
  return cudaErrorNotSupported;
}

cudaError_t launch_frame_head(const FrameHeadArgs& args, cudaStream_t stream) {
  const int rows = args.frames * args.windows;
  if (rows <= 0) return cudaSuccess;
  frame_head<<<static_cast<unsigned>((rows + kRows - 1) / kRows), kThreads, kFrameHeadShared,
               stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
