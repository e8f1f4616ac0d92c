// Masks and taps of the frames (frame_head.hpp): small, a CTA per window.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/frame_head.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kThreads = 256, kSpeakers = 3;
constexpr int kLeastCleanFrames = 2;  // pipeline.md 6

__global__ void __launch_bounds__(kThreads) frame_masks(FrameMaskArgs args) {
  const std::uint8_t* const classes =
      args.classes + static_cast<std::int64_t>(blockIdx.x) * args.frames;
  // Class s + 1 is speaker s alone.
  int clean[kSpeakers] = {};
  for (int first = 0; first < args.frames; first += kThreads) {
    const int t = first + static_cast<int>(threadIdx.x);
    const int value = t < args.frames ? classes[t] : 0;
#pragma unroll
    for (int s = 0; s < kSpeakers; ++s) clean[s] += __syncthreads_count(value == s + 1);
    if (t < args.frames && args.copy != nullptr)
      args.copy[blockIdx.x * args.copy_stride + t] = static_cast<std::uint8_t>(value);
  }
  if (args.masks == nullptr) return;
  float* const masks = args.masks + blockIdx.x * args.mask_stride;
  for (int t = static_cast<int>(threadIdx.x); t < args.frames; t += kThreads) {
    const int value = classes[t];
#pragma unroll
    for (int s = 0; s < kSpeakers; ++s) {
      // Pairs 4, 5, 6 are speakers 0 1, 0 2, 1 2: speaker s is in all but pair 6 - s.
      const bool set = value == s + 1 || (clean[s] <= kLeastCleanFrames && value > kSpeakers &&
                                          value != 2 * kSpeakers - s);
      masks[s * args.frames + t] = set ? 1.0F : 0.0F;
    }
  }
}

__global__ void __launch_bounds__(kThreads) row_tap(RowTapArgs args) {
  const int item = static_cast<int>(blockIdx.x), frame = static_cast<int>(blockIdx.y);
  const __half* const row =
      args.rows + (static_cast<std::int64_t>(frame) * args.windows + item) * 2 * args.columns;
  float* const target =
      args.tap.data + item * args.tap.stride + static_cast<std::int64_t>(frame) * args.columns;
  for (int c = static_cast<int>(threadIdx.x); c < args.columns; c += kThreads)
    target[c] = (__half2float(row[c]) + __half2float(row[args.columns + c])) * args.unscale;
}

}  // namespace

cudaError_t launch_frame_masks(const FrameMaskArgs& args, cudaStream_t stream) {
  if (args.count <= 0) return cudaSuccess;
  frame_masks<<<static_cast<unsigned>(args.count), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_row_tap(const RowTapArgs& args, cudaStream_t stream) {
  if (args.count <= 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>(args.count), static_cast<unsigned>(args.frames));
  row_tap<<<grid, kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
