#pragma once
// 3x3 convolutions of stride 2 with the 1x1 shortcut beside them, on Hopper.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/conv_args.hpp"

namespace diarist::backend::cuda::hopper {

struct DownPlan {
  CUtensorMap even, odd, output, shortcut;
  const void* weights = nullptr;  // pack_down()
  const float *bias = nullptr, *shortcut_bias = nullptr;
  float unscale = 1, shortcut_unscale = 1;
  int channels = 0;   // of the input: 32 or 64
  int frequency = 0;  // of the output
  int strips = 0, pieces = 0, rows = 0, items = 0;
  int grid = 0, groups = 0;  // groups of 64 output channels
  std::uint32_t* range = nullptr;
};

/// The shortcut of the same input: y = x(2f, 2t) * w + b, without ReLU.
struct ShortcutArgs {
  const float* bias = nullptr;
  __half* output = nullptr;
  float unscale = 1;
};

/// `args.weights` from pack_down(). Cuts the frequencies into pieces when the batch is too small to
/// fill the GPU; the bits do not depend on it.
cudaError_t plan_conv_down(DownPlan* plan, const ConvArgs& args, const ShortcutArgs& shortcut,
                           int multiprocessors);
cudaError_t launch_conv_down(const DownPlan& plan, cudaStream_t stream);
/// Once per device, before the first launch.
cudaError_t prepare_conv_down();

}  // namespace diarist::backend::cuda::hopper
