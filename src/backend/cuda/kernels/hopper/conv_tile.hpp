#pragma once
// 3x3 convolutions of stride 1 over many channels, on Hopper.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/conv_args.hpp"

namespace diarist::backend::cuda::hopper {

/// A launch with everything decided: shape, addresses, tensor maps.
struct TilePlan {
  CUtensorMap input, residual, output;
  const void* weights = nullptr;
  const float* bias = nullptr;
  float unscale = 1;
  int slabs = 0;  // of input channels
  int cin = 0, cout = 0;
  int tiles_t = 0, tiles_f = 0, tiles_c = 0, items = 0;
  bool has_residual = false, split = false, flat = false;
  int tile_channels = 0;
  int grid = 0;
  std::uint32_t* range = nullptr;
};

/// True when maps of so many frequencies are cut into tiles of 2 x 128 pixels instead of 4 x 64.
bool tile_is_flat(int frequency);

/// cin a multiple of 64, cout of 64 (of 128 unless split or `narrow`); `narrow` takes 64 output
/// channels per CTA, for batches that leave multiprocessors idle. The bits do not depend on it.
/// `args.weights` from pack_tile().
cudaError_t plan_conv_tile(TilePlan* plan, const ConvArgs& args, bool split, bool narrow,
                           int multiprocessors);
cudaError_t launch_conv_tile(const TilePlan& plan, cudaStream_t stream);
/// Once per device, before the first launch.
cudaError_t prepare_conv_tile();

}  // namespace diarist::backend::cuda::hopper
