#pragma once
// Mean and deviation over an item's frames, and the last layer behind them, in FP32.

#include <cuda_runtime_api.h>

#include <cstdint>

namespace diarist::backend::cuda::campplus {

struct PoolItem {
  std::int64_t first = 0;  // row of the frames, or element of the indices
  std::int32_t count = 0;  // at least 1
};

/// Two passes, divisor n - 1; the deviation of a single frame is 0.01.
struct PoolArgs {
  const float* frames = nullptr;          // [rows][columns]
  std::int64_t rows = 0;                  // that exist; looked at with indices only
  const std::int32_t* indices = nullptr;  // null: an item's frames are neighbours
  const PoolItem* items = nullptr;
  float* statistics = nullptr;  // [items][2][columns]
  int items_count = 0, columns = 0;
};
/// A row that does not exist makes its item's statistics NaN.
cudaError_t launch_pool(const PoolArgs& args, cudaStream_t stream);

/// out = bias + weight * statistics, always in the same order.
struct LastLayerArgs {
  const float* statistics = nullptr;  // [items][inputs]
  const float* weight = nullptr;      // [inputs][outputs]: transposed
  const float* bias = nullptr;
  float* out = nullptr;
  std::int64_t item_stride = 0;  // floats
  int items_count = 0, inputs = 0, outputs = 0;
};
cudaError_t launch_last_layer(const LastLayerArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda::campplus
