#pragma once
// One bidirectional LSTM layer of 128 units on the GPU.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "backend/cuda/choice/choice.hpp"
#include "backend/cuda/kernels/half.hpp"
#include "backend/cuda/memory.hpp"
#include "model/blocks.hpp"

namespace diarist::backend::cuda {

/// How the recurrence runs; the bits are the same.
enum class Recurrence {
  kPair,    // two CTAs per group of windows: devices with clusters
  kSingle,  // one CTA per group: devices with 140 KB of shared memory per CTA
};

/// Which kernel makes the input products. Their bits may differ: a device has one of them.
enum class Products { kWarp, kWarpgroup };

/// How a batch is cut into launches.
struct LstmPlan {
  Products products = Products::kWarp;
  Recurrence recurrence = Recurrence::kPair;
  int groups = 1;   // of 8 windows per pair of CTAs
  int windows = 0;  // padded to whole groups
  int frames = 0;
  int stretch = 0;  // steps per launch
  int multiprocessors = 0;
};

/// True when a device has a recurrence kernel.
bool has_recurrence(const DeviceFacts& device);

/// Plan for up to `windows` windows. The input products of a stretch take at most `product_bytes`
/// where that leaves 16 steps.
LstmPlan plan_lstm(const DeviceFacts& device, int windows, int frames, std::size_t product_bytes);

/// Bytes of what the launches of a plan share: input products of a stretch, cells.
std::size_t product_bytes(const LstmPlan& plan);
std::size_t cell_bytes(const LstmPlan& plan);

/// Rows in split halves, [count][2*depth], as the kernels of a device address them: those of a
/// layer's input, or a layer's weights.
class LstmRows {
 public:
  LstmRows() = default;
  /// \param depth 64 or 256. The memory must outlive this.
  LstmRows(const DeviceFacts& device, const __half* data, int depth, int count);
  const __half* data() const noexcept { return data_; }
  int depth() const noexcept { return depth_; }
  const CUtensorMap& map() const noexcept { return map_; }

 private:
  const __half* data_ = nullptr;
  int depth_ = 0;
  CUtensorMap map_{};  // Hopper only
};

/// Weights of a layer; immutable.
class LstmLayer {
 public:
  /// \param depth columns of its input rows: 64 or 256, zeros beyond those of the block.
  /// \param input_scale power of two that the input rows carry.
  LstmLayer(int device, const model::BiLstm& block, int depth, float input_scale);

  /// Rows are [frames][windows][2*depth] halves (high parts, low parts), states go to
  /// [frames][windows][512] times kStateScale. `products`, `cells`: of at least the plan's bytes.
  void run(const LstmPlan& plan, const LstmRows& rows, __half* states, float* products,
           float* cells, cudaStream_t stream) const;

 private:
  float unscale_[2];
  DeviceMemory inputs_, recurrent_, scale_, bias_;
  LstmRows input_rows_;
};

/// Allows the kernels their shared memory; once per device, before the first run.
void prepare_lstm(const DeviceFacts& device);

}  // namespace diarist::backend::cuda
