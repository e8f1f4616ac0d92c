#pragma once
// Descriptions of maps for Hopper's tensor copies.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/half.hpp"

namespace diarist::backend::cuda::hopper {

/// A map of halves in device memory: [items][frequency][time][channels]; in split mode `channels`
/// counts high and low parts.
struct HalfMap {
  __half* data = nullptr;
  int channels = 0, time = 0, frequency = 0, items = 0;
};

/// What one copy moves: channels (of 2 bytes; 64 or 128 bytes, which is also the swizzle) x time x
/// frequency of one item. step_time 2 takes every other time step; `time` then counts the span.
struct Box {
  int channels = 0, time = 0, frequency = 1;
  int step_time = 1;
};

/// \return cudaErrorNotSupported when the driver lacks tensor maps, cudaErrorInvalidValue when the
/// shape can't be described.
cudaError_t make_tensor_map(CUtensorMap* tensor_map, const HalfMap& map, const Box& box);

}  // namespace diarist::backend::cuda::hopper
