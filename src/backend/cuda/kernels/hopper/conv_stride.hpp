#pragma once
// 3x3 convolutions of stride 2, on Hopper: from 128 channels in halves, from any in split halves.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/conv_args.hpp"

namespace diarist::backend::cuda::hopper {

struct StridePlan {
  CUtensorMap even, odd;
  const void* weights = nullptr;
  const float* bias = nullptr;
  __half* output = nullptr;
  float unscale = 1;
  int slabs = 0, cin = 0, cout = 0;
  int out_f = 0, out_t = 0;
  int tiles_t = 0, tiles_f = 0, tiles_c = 0, items = 0;
  bool split = false;
  int tile_channels = 0;
  int grid = 0;
  std::uint32_t* range = nullptr;
};

/// cin a multiple of 32, cout of 64 (of 128 unless split or `narrow`); `narrow` takes 64 output
/// channels per CTA, for batches that leave multiprocessors idle. The bits do not depend on it.
/// `args.weights` from pack_tile() with slabs of 32 channels (flat).
cudaError_t plan_conv_stride(StridePlan* plan, const ConvArgs& args, bool split, bool narrow,
                             int multiprocessors);
cudaError_t launch_conv_stride(const StridePlan& plan, cudaStream_t stream);
/// Once per device, before the first launch.
cudaError_t prepare_conv_stride();

}  // namespace diarist::backend::cuda::hopper
