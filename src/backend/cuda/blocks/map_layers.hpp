#pragma once
// From rows to maps and back.

#include <cuda_runtime_api.h>

#include "backend/cuda/blocks/arrays.hpp"

namespace diarist::backend::cuda::blocks {

/// Rows [T][bands] without their means -> map [channels][bands][T]: 3x3 padded by 1, bias, ReLU.
struct StemArgs {
  Array<const float> rows;
  Array<const float> means;  // [bands][4] of statistics.hpp; or no base
  Array<float> map;
  const float* weight = nullptr;  // [channels][9], frequency taps outside
  const float* bias = nullptr;
  int channels = 0, bands = 0;
};
cudaError_t launch_stem(const StemArgs& args, int items, int longest, cudaStream_t stream);

/// Map [columns][T] -> rows [T][columns].
cudaError_t launch_map_to_rows(Array<const float> map, Array<float> rows, int columns, int items,
                               int longest, cudaStream_t stream);

}  // namespace diarist::backend::cuda::blocks
