#pragma once
// One bidirectional LSTM layer of 128 units on the GPU.

#include <cuda_runtime_api.h>

#include <string>

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

/// How a batch is cut into launches.
struct LstmPlan {
  Recurrence recurrence = Recurrence::kPair;
  int groups = 1;   // of 8 windows per pair of CTAs
  int windows = 0;  // padded to whole groups
  int frames = 0;
  int stretch = 0;  // steps per launch
};

/// True when a device has a recurrence kernel.
bool has_recurrence(const DeviceFacts& device);

/// Plan for up to `windows` windows. The input products of a stretch take at most `product_bytes`
/// where that leaves 16 steps.
LstmPlan plan_lstm(const DeviceFacts& device, int windows, int frames, std::size_t product_bytes);

/// Bytes of what the launches of a plan share: input products of a stretch, cells.
std::size_t product_bytes(const LstmPlan& plan);
std::size_t cell_bytes(const LstmPlan& plan);

/// Weights of a layer; immutable.
class LstmLayer {
 public:
  /// \param depth columns of its input rows: 64 or 256, zeros beyond those of the block.
  /// \param input_scale power of two that the input rows carry.
  LstmLayer(int device, const model::BiLstm& block, int depth, float input_scale);

  /// Rows are [frames][windows][2*depth] halves (high parts, low parts), states go to
  /// [frames][windows][512] times kStateScale. `products`, `cells`: of at least the plan's bytes.
  void run(const LstmPlan& plan, const __half* rows, __half* states, float* products, float* cells,
           cudaStream_t stream) const;

 private:
  int depth_;
  float unscale_[2];
  DeviceMemory inputs_, recurrent_, scale_, bias_;
};

/// Allows the kernels their shared memory; once per device, before the first run.
void prepare_lstm(const DeviceFacts& device);

}  // namespace diarist::backend::cuda
