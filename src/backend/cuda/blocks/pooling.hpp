#pragma once
// Masked statistics of maps, and the products that make embeddings of statistics.

#include <cuda_runtime_api.h>

#include "backend/cuda/blocks/arrays.hpp"

namespace diarist::backend::cuda::blocks {

/// Weighted mean and deviation of every row (channel*frequency + f) of a map; models.md (c).
struct MaskedStatisticsArgs {
  Array<const float> map;           // [rows][time]
  Array<const float> masks;         // [speakers][mask_frames], of floats, or
  Array<const std::uint8_t> bytes;  // of bytes; the other one has no base
  Array<float> totals;              // workspace, [speakers][2]
  Array<float> statistics;          // [speakers][2 * rows]: means, then deviations
  int rows = 0, speakers = 0, mask_frames = 0;
};
cudaError_t launch_masked_statistics(const MaskedStatisticsArgs& args, int items,
                                     cudaStream_t stream);

/// embeddings[r][d] = bias[d] + sum of statistics[r][k] * weight[d][k], r = 0 .. rows - 1.
struct HeadArgs {
  Array<const float> statistics;  // [rows][inputs]
  Array<float> embeddings;        // [rows][outputs]
  const float* weight = nullptr;  // [outputs][inputs]
  const float* bias = nullptr;
  int rows = 1, inputs = 0, outputs = 0;
};
cudaError_t launch_head(const HeadArgs& args, int items, cudaStream_t stream);

}  // namespace diarist::backend::cuda::blocks
