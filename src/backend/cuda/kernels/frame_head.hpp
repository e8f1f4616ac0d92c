#pragma once
// What stands behind the last LSTM layer of the segmentation network: three dense layers, the
// log-softmax (a tap) and the powerset decision; and the decision's classes as outputs and masks.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/half.hpp"

namespace diarist::backend::cuda {

constexpr int kFrameColumns = 256, kFrameHidden = 128, kFrameClasses = 7;

/// Where a value of every frame is wanted: item i at i strides, [frames][columns] of it.
struct FrameTap {
  float* data = nullptr;  // null: not wanted
  std::int64_t stride = 0;
};

struct FrameHeadArgs {
  const __half* rows = nullptr;    // [frames][windows][512]: high parts of 256 states, low parts
  const __half* first = nullptr;   // [128][2*256] from pack_split_rows()
  const __half* second = nullptr;  // [128][2*128]
  const void* last = nullptr;      // from pack_classifier()
  const float* bias = nullptr;     // [128], [128], [8]
  /// Undo the powers of two of a layer's input and weights.
  float unscale[3] = {1, 1, 1};
  /// Powers of two for the outputs of the first two layers; no output times its factor may leave
  /// the range of a half.
  float scale[2] = {1, 1};
  int windows = 0, frames = 0;
  int count = 0;                    // windows that are wanted; the others are padding
  std::uint8_t* classes = nullptr;  // [count][frames]
  FrameTap linear0, linear1, logits, log_probabilities;
};

/// Shared memory of a CTA.
constexpr int kFrameHeadShared = 98304;
/// Once per device, before the first launch. cudaErrorNotSupported: too little shared memory.
cudaError_t prepare_frame_head();
cudaError_t launch_frame_head(const FrameHeadArgs& args, cudaStream_t stream);

/// Copies classes to where they are wanted and makes masks of them (pipeline.md 6).
struct FrameMaskArgs {
  const std::uint8_t* classes = nullptr;  // [count][frames]
  int count = 0, frames = 0;
  std::uint8_t* copy = nullptr;  // null: not wanted
  std::int64_t copy_stride = 0;
  float* masks = nullptr;  // [3][frames] per item; null: not wanted
  std::int64_t mask_stride = 0;
};
cudaError_t launch_frame_masks(const FrameMaskArgs& args, cudaStream_t stream);

/// Rows in split halves as numbers: tap[item][frame][columns] = (high + low) * unscale.
struct RowTapArgs {
  const __half* rows = nullptr;  // [frames][windows][2*columns]
  int windows = 0, frames = 0, columns = 0, count = 0;
  float unscale = 1;
  FrameTap tap;
};
cudaError_t launch_row_tap(const RowTapArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda
