#pragma once
// How the kernels of this folder find the values of a batch.

#include <cstdint>

namespace diarist::backend::cuda::blocks {

/// Where one item's part of a value lies, and the length of its time axis.
struct Place {
  std::int64_t start = 0;  // elements from the array's base
  std::int32_t length = 0;
  std::int32_t unused = 0;
};

/// A value of all items of a launch, in device memory.
template <typename T>
struct Array {
  T* base = nullptr;
  const Place* places = nullptr;  // one per item

#ifdef __CUDACC__
  __device__ T* item(int i) const { return base + places[i].start; }
  __device__ int length(int i) const { return places[i].length; }
#endif
};

/// Frames that share a context in the dense blocks of CAM++.
inline constexpr int kSegmentFrames = 100;

}  // namespace diarist::backend::cuda::blocks
