#pragma once
// The stem on tensor cores: 3x3 convolution of one channel to 32, bias, ReLU.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "backend/cuda/kernels/half.hpp"

namespace diarist::backend::cuda {

/// Features as the stem reads them: planes of halves without mean and with a border of zeros; in
/// split mode the low parts follow the high parts of all items.
inline constexpr int kFeatureRows = 82, kFeatureColumns = 1024;
inline constexpr int kFeatureRow0 = 1, kFeatureColumn0 = 8;  // where (0, 0) lies

struct StemMmaArgs {
  const __half* features = nullptr;      // [items][82][1024]
  const __half* low_features = nullptr;  // split mode
  const void* weights = nullptr;         // pack_stem_mma()
  const float* bias = nullptr;           // [32]
  __half* output = nullptr;              // [items][80][time][32] (split: [2][32] per pixel)
  float unscale = 1;
  int items = 0, time = 0;
  bool split = false;
  std::uint32_t* range = nullptr;  // one word per item
};

/// Fragments of m16n8k16 with the nine taps padded to 16: [high, low in split mode][4][32 lanes][2]
/// pairs of halves. Column n of tile j is channel 8 (n / 2) + 2 j + n % 2, so that the sums of one
/// thread are eight neighbouring channels. \param weight [32, 1, 3, 3].
std::vector<std::uint16_t> pack_stem_mma(const float* weight, bool split, float scale);

/// A pixel's bits depend on nothing but its features.
cudaError_t launch_stem_mma(const StemMmaArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda
