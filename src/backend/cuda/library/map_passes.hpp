#pragma once
// Passes over whole maps that the library's convolutions don't make themselves.

#include <cuda_runtime_api.h>

#include <cstdint>

namespace diarist::backend::cuda {

/// Halves or f32, [items][values]; values per item a multiple of 8.
struct MapArgs {
  void* map = nullptr;
  bool halves = false;
  int items = 0;
  std::int64_t values = 0;
};

/// Sets range[item] to 1 when a value of the item is infinite or no number. The library writes an
/// infinity where a sum is beyond a half, and a later ReLU may hide it: so every map is looked at.
cudaError_t launch_range_scan(const MapArgs& args, std::uint32_t* range, cudaStream_t stream);

/// map = act(map + bias + residual), what a fused convolution does on its way out; for the figures
/// that show what fusing saves. Bias and residual have the type of the map; channels a multiple
/// of 8, last in memory. residual: null for none.
cudaError_t launch_epilogue(const MapArgs& args, const void* bias, const void* residual,
                            int channels, bool relu, cudaStream_t stream);

}  // namespace diarist::backend::cuda
