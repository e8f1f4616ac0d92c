#pragma once
// 3x3 convolutions of stride 1 over few channels, on Hopper: 64 in halves, 32 in split halves.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/conv_args.hpp"

namespace diarist::backend::cuda::hopper {

struct WalkPlan {
  CUtensorMap input, residual, output;
  const void* weights = nullptr;  // pack_walk()
  const float* bias = nullptr;
  float unscale = 1;
  int frequency = 0;
  int strips = 0, pieces = 0, items = 0;  // strips of 64 pixels, pieces of `rows` frequencies
  int rows = 0;
  bool has_residual = false, split = false;
  int grid = 0;
  std::uint32_t* range = nullptr;
};

/// Cuts the frequencies into pieces when the batch is too small to fill the GPU. The bits do not
/// depend on it.
cudaError_t plan_conv_walk(WalkPlan* plan, const ConvArgs& args, bool split, int multiprocessors);
cudaError_t launch_conv_walk(const WalkPlan& plan, cudaStream_t stream);
/// Once per device, before the first launch.
cudaError_t prepare_conv_walk();

/// Rows per piece so that `strips * items` walks of `frequency` rows fill `workers` walkers: the
/// fewest pieces that do, each with `lead` rows more than it makes (the walk counts in threes).
int walk_rows(int frequency, int walks, int workers, int lead);

}  // namespace diarist::backend::cuda::hopper
