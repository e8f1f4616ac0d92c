#pragma once
// The speaker embedding's trunk in plain FP32, for chunks whose activations left the range of a
// half. Maps are f32 [item][frequency][time][channels]. Every sum has one fixed order, so an item's
// bits do not depend on its batch. `range`: one word per item, set when an output is not finite.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "backend/cuda/kernels/conv_args.hpp"

namespace diarist::backend::cuda {

/// y = relu(conv(x) + bias + residual).
struct ConvFfmaArgs {
  const float* input = nullptr;
  const float* weights = nullptr;   // packed by pack_ffma_weights()
  const float* bias = nullptr;      // [cout]
  const float* residual = nullptr;  // null: none
  float* output = nullptr;
  int items = 0;
  int in_f = 0, in_t = 0;  // input frequency, time
  int out_f = 0, out_t = 0;
  int cin = 0, cout = 0;
  bool relu = true;
  std::uint32_t* range = nullptr;
};

/// [cout, cin, k, k] -> [tap][cin][cout].
std::vector<float> pack_ffma_weights(const float* weight, int cout, int cin, int taps);

/// 3x3 padded by 1 and 1x1, any strides; cin a multiple of 16, cout of 32, at most 65535 items.
/// \return cudaErrorNotSupported for other shapes.
cudaError_t launch_conv_ffma(const ConvShape& shape, const ConvFfmaArgs& args, cudaStream_t stream);

/// First convolution: one channel of 80 bands to 32 channels, 3x3 padded by 1, mean removed, ReLU.
struct StemFfmaArgs {
  const float* rows = nullptr;  // item i: rows + i * item_stride, [time][80]
  std::int64_t item_stride = 0;
  const float* means = nullptr;    // [items][80]
  const float* weights = nullptr;  // [9][32], tap = frequency tap * 3 + time tap
  const float* bias = nullptr;     // [32]
  float* output = nullptr;         // [items][80][time][32]
  int items = 0, time = 0;
  std::uint32_t* range = nullptr;
};
cudaError_t launch_stem_ffma(const StemFfmaArgs& args, cudaStream_t stream);

/// Masked mean and deviation of every (channel, frequency) row for all masks of an item; models.md
/// (c). Rows are scaled by a power of two first, so that no square overflows. time <= 512,
/// speakers <= 4, channels a multiple of 32 up to 1024.
struct PoolFfmaArgs {
  const float* map = nullptr;    // [items][frequency][time][channels]
  const float* masks = nullptr;  // item i: masks + i * mask_stride, [speakers][mask_frames]
  std::int64_t mask_stride = 0;
  float* statistics = nullptr;  // [items][speakers][2 * channels * frequency]
  int items = 0, speakers = 0, mask_frames = 0;
  int frequency = 0, time = 0, channels = 0;
  std::uint32_t* range = nullptr;
};
cudaError_t launch_masked_pool_ffma(const PoolFfmaArgs& args, cudaStream_t stream);

/// map -> f32 [channels][frequency][time] per item, item_stride elements apart.
struct TapFfmaArgs {
  const float* map = nullptr;
  float* output = nullptr;
  std::int64_t item_stride = 0;
  int items = 0, channels = 0, frequency = 0, time = 0;
};
cudaError_t launch_map_tap_ffma(const TapFfmaArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda
