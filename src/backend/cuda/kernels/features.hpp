#pragma once
// What the trunk's first kernels read: features in halves, or the means that the stem removes.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/half.hpp"

namespace diarist::backend::cuda {

struct FeaturesArgs {
  const float* rows = nullptr;   // [items][time][80], items item_stride elements apart
  std::int64_t item_stride = 0;  // elements
  /// Item i lies at positions[i] * item_stride; null: at i * item_stride.
  const std::int32_t* positions = nullptr;
  int items = 0, time = 0;
  bool remove_mean = true;
  float* means = nullptr;          // [items][80]; null: not wanted. Zeros when the mean stays
  __half* features = nullptr;      // planes as stem_mma.hpp says; null: not wanted
  __half* low_features = nullptr;  // what the halves leave over; null: not wanted
  std::uint32_t* range = nullptr;  // one word per item: set when a feature leaves the half range
};

/// The mean of a band runs over time in one fixed order. The border of `features` is not written.
cudaError_t launch_features(const FeaturesArgs& args, cudaStream_t stream);

/// target[i] = the item at positions[i] (null: i) of `width` floats, for arrays on the device.
struct GatherArgs {
  const float* source = nullptr;
  std::int64_t item_stride = 0;  // elements
  const std::int32_t* positions = nullptr;
  float* target = nullptr;  // [items][width]
  int items = 0;
  std::int64_t width = 0;
};
cudaError_t launch_gather(const GatherArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda
