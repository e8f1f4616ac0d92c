#pragma once
// The sinc convolution: 80 filters of 251 taps, stride 10, over ragged items of samples.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "backend/cuda/kernels/front_items.hpp"

namespace diarist::backend::cuda {

inline constexpr int kSincTaps = 251, kSincFilters = 80, kSincStride = 10;
inline constexpr int kSincDepth = 256;  // taps padded with zeros

struct SincMmaArgs {
  const float* samples = nullptr;
  const void* weights = nullptr;  // pack_split() of [80][256]
  float* rows = nullptr;          // 8-byte aligned, as is every item's first row
  float weight_unscale = 1;       // 1 / what the packed weights were scaled by
  int multiprocessors = 1;        // of the device; says how many CTAs start, not what they compute
  std::size_t shared_bytes = 0;   // that a CTA may have
  FrontItems items;
};

/// Allows the kernels the device's shared memory: once per device, before any launch.
cudaError_t prepare_sinc_mma(std::size_t shared_bytes);

/// A row's bits depend on its own 251 samples only. Any finite samples; a row that touches one that
/// is not finite becomes NaN.
cudaError_t launch_sinc_mma(const SincMmaArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda
