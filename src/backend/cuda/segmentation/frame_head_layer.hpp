#pragma once
// The dense layers behind the LSTM on the GPU.

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/frame_head.hpp"
#include "backend/cuda/memory.hpp"
#include "backend/cuda/segmentation/segmentation_parts.hpp"

namespace diarist::backend::cuda {

/// Weights of the three layers; immutable.
class FrameHeadLayer {
 public:
  FrameHeadLayer(int device, const SegmentationParts& parts);

  /// \param args rows, sizes, classes and taps; weights and scales are filled in here.
  void run(FrameHeadArgs args, cudaStream_t stream) const;
  std::size_t weight_bytes() const noexcept;

 private:
  DeviceMemory first_, second_, last_, bias_;
  float unscale_[3], scale_[2];
};

}  // namespace diarist::backend::cuda
