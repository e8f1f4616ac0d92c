#pragma once
// From windows of samples and their raw sinc rows to the input of the first LSTM layer: SincPool
// and the two Conv1d stages behind it (models.md (b), 1 to 11, the sinc convolution itself
// excepted).

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/front/front_kernels.hpp"
#include "backend/cuda/kernels/front_pool.hpp"
#include "backend/cuda/kernels/half.hpp"
#include "backend/cuda/memory.hpp"
#include "model/blocks.hpp"

namespace diarist::backend::cuda {

/// Windows of a tape on the device. Window i begins at positions[i] strides, or at i strides where
/// positions is null.
struct FrontWindows {
  const float* samples = nullptr;  // 160000 of every window are read
  std::int64_t sample_stride = 0;
  const float* raw = nullptr;  // [15975, 80] of every window; begins at multiples of 16 bytes
  std::int64_t raw_stride = 0;
  const std::int32_t* positions = nullptr;  // on the device
  int count = 0;
};

/// Where the stages' results are wanted as well: item i at i strides of floats, null for none.
struct FrontTaps {
  float* sinc0 = nullptr;  // [5325, 80]
  std::int64_t sinc0_stride = 0;
  float* sinc1 = nullptr;  // [1773, 60]
  std::int64_t sinc1_stride = 0;
  float* sinc2 = nullptr;  // [589, 60]
  std::int64_t sinc2_stride = 0;
};

/// Holds packed weights and the workspace of a sub-batch. One stream at a time. run() allocates
/// nothing and never waits, so it may be recorded in a graph. A window's bits depend on nothing but
/// its own samples and raw rows.
class SegmentationFront {
 public:
  static constexpr int kSamples = 160000, kRawRows = 15975, kFilters = 80;
  static constexpr int kFrames = 589, kChannels = 60;
  /// A row is [60 high halves, 4 zeros, 60 low halves, 4 zeros] of 16 * value: value is
  /// (high + low) / 16 with about 22 significant bits. Values beyond 4093 are clamped; the instance
  /// norm keeps them below 25 |weight| + |bias|.
  static constexpr int kRowHalves = 128, kLowPart = 64;
  static constexpr float kRowScale = 16.0F;

  /// \param sub_batch windows that go through together; workspace is 2.5 MB for each of them.
  /// \throws Error kUnsupported for other shapes than the network's, kOutOfMemory.
  SegmentationFront(int device, const model::SincPool& pool, const model::Conv1d& first,
                    const model::Conv1d& second, int max_windows, int sub_batch,
                    FrontKernels kernels = FrontKernels::kBest);

  /// rows: [589][row_windows][128] halves, 16-byte aligned. Window i becomes column i; columns from
  /// windows.count on are not touched.
  /// \throws Error kInvalidArgument.
  void run(cudaStream_t stream, const FrontWindows& windows, __half* rows, int row_windows,
           const FrontTaps& taps = {}) const;

  /// Name of the convolutions' kernel.
  const char* kernel() const noexcept { return hopper_ ? "front_conv_wgmma" : "front_conv_mma"; }
  std::size_t workspace_bytes() const noexcept { return workspace_.bytes(); }
  std::size_t weight_bytes() const noexcept { return weights_.bytes(); }

 private:
  /// An instance norm whose results are stored `scale` times as large.
  struct Norm {
    const float* weight = nullptr;
    const float* bias = nullptr;
    float scale = 1;
    float* means = nullptr;  // [sub_batch][channels], as are the scales
    float* scales = nullptr;
  };
  struct Convolution {
    const void* weights = nullptr;
    const float* bias = nullptr;
    float unscale = 1;
  };
  /// A stage's result before its norm, and the moments of its pieces.
  struct Stage {
    float* rows = nullptr;
    Moments* moments = nullptr;
  };

  void run_part(cudaStream_t stream, const FrontWindows& windows, int first, int count,
                __half* rows, int row_windows, const FrontTaps& taps) const;
  void pool(cudaStream_t stream, const FrontWindows& windows, int first, int count) const;
  void normalize(cudaStream_t stream, int stage, int count) const;
  void convolve(cudaStream_t stream, int stage, int count) const;
  void tap(cudaStream_t stream, int stage, int first, int count, float* target,
           std::int64_t stride) const;

  int device_;
  int max_windows_, sub_batch_;
  int multiprocessors_ = 1;
  std::size_t shared_bytes_ = 0;
  bool hopper_ = false;
  DeviceMemory weights_, workspace_;
  double waveform_weight_, waveform_bias_;
  const double* tap_sums_ = nullptr;
  WaveMoments* wave_ = nullptr;
  RawAffine* affine_ = nullptr;
  Norm norms_[3];
  Convolution convolutions_[2];
  Stage stages_[3];
};

}  // namespace diarist::backend::cuda
