#pragma once
// Conv1d of the segmentation front end: norm and leaky ReLU of the stage before on the way in, five
// taps, bias, max pool 3 and moments for the norm behind it on the way out.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cuda/kernels/front_pool.hpp"

namespace diarist::backend::cuda {

inline constexpr int kFrontTaps = 5, kFrontOutputs = 60;
inline constexpr int kConvPieceRows = 16;  // pooled rows

struct FrontConvArgs {
  int channels = 80;               // of the input: 80 or 60
  const float* input = nullptr;    // [windows][in_rows][channels], 16-byte aligned
  const float* means = nullptr;    // [windows][channels]
  const float* scales = nullptr;   // [windows][channels], with the input scale
  const float* offsets = nullptr;  // [channels]: the norm's bias times the input scale
  const void* weights = nullptr;   // pack_front_conv()
  const float* bias = nullptr;     // [60]
  float unscale = 1;               // 1 / (input scale * weight scale)
  int windows = 0, in_rows = 0;
  float* output = nullptr;     // [windows][pooled rows][60]
  Moments* moments = nullptr;  // [windows][pieces][60]
  int multiprocessors = 1;     // says how many CTAs start, not what they compute
  std::size_t shared_bytes = 0;
};

constexpr int front_conv_rows(int in_rows) { return (in_rows - kFrontTaps + 1) / 3; }
constexpr int front_conv_pieces(int in_rows) {
  return (front_conv_rows(in_rows) + kConvPieceRows - 1) / kConvPieceRows;
}

/// \param weight [60, channels, 5]. Depth is tap * padded channels + channel.
std::vector<std::uint16_t> pack_front_conv(const float* weight, int channels, float scale);

/// Allows the kernels the device's shared memory: once per device, before any launch.
cudaError_t prepare_front_conv(std::size_t shared_bytes);

/// A pooled row's bits depend on its own input rows and the norm only.
cudaError_t launch_front_conv(const FrontConvArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda
