#pragma once
// The two ends of the speaker embedding: features to the first map, last map to embeddings; and the
// tap that hands a map out as f32.

#include <cuda_runtime_api.h>

#include <cstdint>

struct __half;

namespace diarist::backend::cuda {

/// Mean over time of every band. rows: item i starts at rows + i*item_stride, [time][80].
/// means: [items][80]. Fixed order of sums.
cudaError_t launch_band_means(const float* rows, std::int64_t item_stride, int items, int time,
                              float* means, cudaStream_t stream);

/// Arguments of the stem: 3x3 convolution of one channel, padded by 1, mean removed, bias, ReLU.
struct StemArgs {
  const float* rows = nullptr;
  std::int64_t item_stride = 0;
  const float* means = nullptr;
  const float* weights = nullptr;  // [9][32], tap = frequency tap * 3 + time tap
  const float* bias = nullptr;     // [32]
  __half* output = nullptr;        // [items][80][time][32] (split: [2][32] per pixel)
  int items = 0;
  int time = 0;
  bool split = false;
  std::uint32_t* range = nullptr;
};
cudaError_t launch_stem(const StemArgs& args, cudaStream_t stream);

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
};
cudaError_t launch_masked_pool(const PoolArgs& args, cudaStream_t stream);

/// embedding[d] = bias[d] + sum over statistics, in a fixed order, for items * speakers rows of
/// statistics; weight: [outputs][inputs]. Items start item_stride elements apart.
struct HeadArgs {
  const float* statistics = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
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
