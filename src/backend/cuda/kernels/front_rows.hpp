#pragma once
// The last instance norm and leaky ReLU, written as split halves for the LSTM's first product, or
// as FP32 for a tap.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/half.hpp"

namespace diarist::backend::cuda {

struct FrontRowsArgs {
  const float* input = nullptr;    // [windows][rows][channels], 16-byte aligned
  const float* means = nullptr;    // [windows][channels]
  const float* scales = nullptr;   // [windows][channels], with a scale of the output
  const float* offsets = nullptr;  // [channels], with the same scale
  int channels = 60, rows = 0, windows = 0;
};

/// output: [rows][row_windows][128] halves as segmentation_front.hpp says; window i goes to column
/// first + i. channels must be 60.
cudaError_t launch_front_rows(const FrontRowsArgs& args, __half* output, int row_windows, int first,
                              cudaStream_t stream);

/// output: [rows][channels] per window, `stride` floats apart, times `unscale`.
cudaError_t launch_front_tap(const FrontRowsArgs& args, float* output, std::int64_t stride,
                             float unscale, cudaStream_t stream);

}  // namespace diarist::backend::cuda
