#pragma once
// Launching the kernels of frames.hpp.

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/campplus/frames.hpp"

namespace diarist::backend::cuda::campplus {

/// Launches a kernel that calls wait_for_predecessor() before it touches what the launch before
/// made.
template <typename Args>
cudaError_t launch_overlapping(void (*kernel)(Args), dim3 grid, int threads, int shared,
                               bool overlap, const Args& args, cudaStream_t stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, args);
}

cudaError_t prepare_dense_layer(bool exact, bool deep);
cudaError_t prepare_unit_products(bool exact, bool deep);

/// Stages of the ring.
template <bool kExact, bool kDeep>
inline constexpr int kFrameStages = kExact ? (kDeep ? 3 : 2) : (kDeep ? 6 : 3);

}  // namespace diarist::backend::cuda::campplus
