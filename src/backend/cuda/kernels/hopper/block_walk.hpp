#pragma once
// Whole basic blocks of 32 channels on Hopper.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/half.hpp"

namespace diarist::backend::cuda::hopper {

/// y = relu(conv2(relu(conv1(x))) + x).
struct BlockArgs {
  const __half* input = nullptr;  // [items][frequency][time][32]
  __half* output = nullptr;
  const void* weights[2] = {};  // pack_walk()
  const float* bias[2] = {};    // [32]
  float unscale[2] = {1, 1};
  int items = 0, frequency = 0, time = 0;
  std::uint32_t* range = nullptr;
};

struct BlockPlan {
  CUtensorMap input, output;
  BlockArgs args;
  int strips = 0, pieces = 0, rows = 0, steps = 0;
  int grid = 0;
};

/// Cuts the frequencies into pieces when the batch is too small to fill the GPU. The bits do not
/// depend on it.
cudaError_t plan_block_walk(BlockPlan* plan, const BlockArgs& args, int multiprocessors);
cudaError_t launch_block_walk(const BlockPlan& plan, cudaStream_t stream);
/// Once per device, before the first launch.
cudaError_t prepare_block_walk();

}  // namespace diarist::backend::cuda::hopper
