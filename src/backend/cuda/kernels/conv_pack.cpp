// Host-side packing of convolution weights.

#include <cmath>

#include "backend/cuda/kernels/conv.hpp"
#include "backend/cuda/kernels/split_half.hpp"
#include "backend/cuda/kernels/stem_mma.hpp"

namespace diarist::backend::cuda {
namespace {

// [cout, cin, taps], scaled.
struct SourceWeights {
  const float* weight;
  int cin, taps;
  float scale;

  float at(int o, int c, int tap) const {
    const std::size_t row =
        static_cast<std::size_t>(o) * static_cast<std::size_t>(cin) + static_cast<std::size_t>(c);
    return weight[row * static_cast<std::size_t>(taps) + static_cast<std::size_t>(tap)] * scale;
  }
};

}  // namespace

float conv_weight_scale(const float* weight, std::size_t count) {
  return split_scale({weight, count}, 7);
}

std::vector<std::uint16_t> pack_conv_weights(const float* weight, int cout, int cin, int taps,
                                             bool split, float scale) {
  const SourceWeights source{weight, cin, taps, scale};
  const int kernel = taps == 9 ? 3 : 1, channels = split ? 16 : 32;
  std::vector<std::uint16_t> packed;
  packed.reserve(static_cast<std::size_t>(cout) * static_cast<std::size_t>(cin * taps) *
                 (split ? 2 : 1));
  for (int slab = 0; slab < cin / channels; ++slab)
    for (int time = 0; time < kernel; ++time)
      for (int frequency = 0; frequency < kernel; ++frequency)
        for (int row = 0; row < cout; ++row) {
          const int j = row % 32 / 8, q = row % 8 / 2, e = row % 2;
          const int o = row / 32 * 32 + 8 * q + 2 * j + e;
          for (int part = 0; part < (split ? 2 : 1); ++part)
            for (int c = 0; c < channels; ++c) {
              const float value = source.at(o, slab * channels + c, frequency * kernel + time);
              packed.push_back(split_half(value, part));
            }
        }
  return packed;
}

std::vector<std::uint16_t> pack_stem_mma(const float* weight, bool split, float scale) {
  std::vector<std::uint16_t> packed;
  for (int part = 0; part < (split ? 2 : 1); ++part)
    for (int j = 0; j < 4; ++j)
      for (int lane = 0; lane < 32; ++lane)
        for (int high = 0; high < 2; ++high)
          for (int odd = 0; odd < 2; ++odd) {
            const int n = lane / 4, tap = 2 * (lane % 4) + odd + 8 * high;
            const int channel = 8 * (n / 2) + 2 * j + n % 2;
            const float value = tap < 9 ? weight[channel * 9 + tap] * scale : 0.0F;
            packed.push_back(split_half(value, part));
          }
  return packed;
}

}  // namespace diarist::backend::cuda
