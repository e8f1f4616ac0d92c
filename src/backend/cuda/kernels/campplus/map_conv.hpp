#pragma once
// The 3x3 convolutions of CAM++'s head: 32 channels, strides on frequency only.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cuda/kernels/campplus/layout.hpp"

namespace diarist::backend::cuda::campplus {

/// Weights in a kernel's order and the factor that undoes the power of two they carry.
struct PackedProduct {
  const void* weights = nullptr;
  const float* bias = nullptr;
  float unscale = 1;
};

/// Maps are [frequency][pitch][32] halves; exact mode: [frequency][pitch][high 32, low 32].
struct MapConvArgs {
  const __half* input = nullptr;  // or, with a stem, null
  int in_pitch = 0, in_frequency = 0;
  /// The stem's input: planes of gather.hpp, where column 0 is kFeatureLead columns before the
  /// map's first row.
  const __half* planes = nullptr;
  const __half* low_planes = nullptr;
  int plane_pitch = 0;
  PackedProduct stem;

  PackedProduct conv;
  PackedProduct shortcut;            // 1x1 with the same stride, or null
  __half* beside = nullptr;          // the shortcut's map
  const __half* residual = nullptr;  // added before the ReLU; like the output, or the output itself
  __half* output = nullptr;
  int out_pitch = 0, out_frequency = 0;
  int time = 0;    // rows of the map; what lies outside counts as zero
  int stride = 1;  // of frequency
  bool exact = false;
  const std::int32_t* row_items = nullptr;  // of the map's first row; rows of no item become zero
  std::uint32_t* range = nullptr;
  int multiprocessors = 0;
};

/// Every layer ends with bias, residual and ReLU; the shortcut with its bias alone. What a
/// pixel is depends on its inputs only.
cudaError_t launch_map_conv(const MapConvArgs& args, cudaStream_t stream);
/// Once per device and mode, before the first launch. \return an error where a block may not have
/// the shared memory that the mode takes.
cudaError_t prepare_map_conv(bool exact);

/// [high, low in exact mode][taps][row][32 input channels]; row 8 j + 2 q + e holds output channel
/// 8 q + 2 j + e, so that the sums of one thread are eight neighbouring channels.
/// \param weight [32, 32, 3, 3] or [32, 32, 1, 1].
std::vector<std::uint16_t> pack_map_conv(const float* weight, int taps, bool exact, float scale);

}  // namespace diarist::backend::cuda::campplus
