#pragma once
// Layers that are little more than a copy.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "backend/cuda/blocks/arrays.hpp"

namespace diarist::backend::cuda::blocks {

/// [T][columns], each row on its own. The largest of each counts for the decision, first one wins.
cudaError_t launch_log_softmax(Array<const float> rows, Array<float> output, int columns, int items,
                               int longest, cudaStream_t stream);
cudaError_t launch_decision(Array<const float> rows, Array<std::uint8_t> classes, int columns,
                            int items, int longest, cudaStream_t stream);

/// Classes [T] -> masks [3][T]. Classes from 7 on count as nobody.
cudaError_t launch_masks(Array<const std::uint8_t> classes, Array<float> masks, int items,
                         cudaStream_t stream);

/// Row indices[t] of `rows` shared rows. An index outside gives a row of zeros, and `fault` becomes
/// the least of item << 32 | t.
struct GatherArgs {
  const float* shared = nullptr;
  std::int64_t rows = 0;
  int columns = 0;
  Array<const std::int32_t> indices;
  Array<float> output;
  unsigned long long* fault = nullptr;
  int first_item = 0;  // number of the launch's first item in the batch
};
cudaError_t launch_gather_rows(const GatherArgs& args, int items, int longest, cudaStream_t stream);

/// Copies of items, `rows` times `width` elements each; rows < 0: as many as the output is long.
struct CopyArgs {
  Array<const std::byte> input;
  Array<std::byte> output;
  int element_bytes = 4;  // 1 or 4; places count elements
  std::int64_t width = 0, input_pitch = 0, output_pitch = 0;
  std::int64_t rows = -1;
};
cudaError_t launch_copy(const CopyArgs& args, int items, std::int64_t longest, cudaStream_t stream);

}  // namespace diarist::backend::cuda::blocks
