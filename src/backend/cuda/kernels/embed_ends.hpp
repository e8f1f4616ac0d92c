#pragma once
// The end of the speaker embedding: last map to embeddings; and the tap that hands a map out as
// f32.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/half.hpp"

namespace diarist::backend::cuda {

/// Once per device, before the first launch.
cudaError_t prepare_embed_ends();

/// Masked mean and deviation of every (channel, frequency) row, for all masks of an item in one
/// reading of the map; models.md (c).
struct PoolArgs {
  const __half* map = nullptr;   // [items][frequency][time][channels] (split: [2][channels])
  const float* masks = nullptr;  // [items][speakers][mask_frames]
  std::int64_t mask_stride = 0;  // elements between items
  float* statistics = nullptr;   // [items][speakers][2 * channels * frequency]
  int items = 0, speakers = 0, mask_frames = 0;
  int frequency = 0, time = 0, channels = 0;
  bool split = false;
  std::uint32_t* range = nullptr;  // one word per item: set when a mask's sum is not finite
};
cudaError_t launch_masked_pool(const PoolArgs& args, cudaStream_t stream);

/// Slices of the inputs that the head sums by themselves.
inline constexpr int kHeadSlices = 16;

/// embedding[d] = bias[d] + sum over statistics, in a fixed order, for items * speakers rows of
/// statistics; weight: [outputs][inputs]. Items start item_stride elements apart.
struct HeadArgs {
  const float* statistics = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* slices = nullptr;  // workspace: [kHeadSlices][items * speakers][outputs]
  float* embeddings = nullptr;
  std::int64_t item_stride = 0;
  int items = 0, speakers = 0;
  int inputs = 0, outputs = 0;
};
cudaError_t launch_head(const HeadArgs& args, cudaStream_t stream);

/// map -> f32 [channels][frequency][time] per item, item_stride elements apart.
struct TapArgs {
  const __half* map = nullptr;
  float* output = nullptr;
  std::int64_t item_stride = 0;
  int items = 0, channels = 0, frequency = 0, time = 0;
  bool split = false;
};
cudaError_t launch_map_tap(const TapArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda
