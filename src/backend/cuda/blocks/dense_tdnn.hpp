#pragma once
// The context mask of a dense TDNN layer (campplus.md (b)): its gates per segment of 100 frames.

#include <cuda_runtime_api.h>

#include "backend/cuda/blocks/arrays.hpp"

namespace diarist::backend::cuda::blocks {

struct ContextGatesArgs {
  Array<const float> hidden;       // [T][columns]
  Array<float> sums;               // workspace, [segments][columns]
  Array<float> gates;              // [segments][growth], between 0 and 1
  const float* weight1 = nullptr;  // [columns][middle]
  const float* bias1 = nullptr;    // [middle]
  const float* weight2 = nullptr;  // [middle][growth]
  const float* bias2 = nullptr;    // [growth]
  int columns = 0, middle = 0, growth = 0;
};
/// \return cudaErrorNotSupported when columns and middle together exceed 8192.
cudaError_t launch_context_gates(const ContextGatesArgs& args, int items, int longest,
                                 cudaStream_t stream);

}  // namespace diarist::backend::cuda::blocks
