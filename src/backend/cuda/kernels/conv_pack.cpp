// Host-side packing of convolution weights.

#include <cuda_fp16.h>

#include <cmath>
#include <cstring>

#include "backend/cuda/kernels/conv.hpp"

namespace diarist::backend::cuda {
namespace {

std::uint16_t bits_of(__half value) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace

float conv_weight_scale(const float* weight, std::size_t count) {
  float largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::fmax(largest, std::fabs(weight[i]));
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0F, 7 - std::ilogb(largest));
}

std::vector<std::uint16_t> pack_conv_weights(const float* weight, int cout, int cin, int taps,
                                             bool split, float scale) {
  const int slab = conv_slab(cin);
  std::vector<std::uint16_t> packed;
  packed.reserve(static_cast<std::size_t>(cout) * static_cast<std::size_t>(cin * taps) *
                 (split ? 3 : 1));
  for (int group = 0; group < cin / slab; ++group)
    for (int part = 0; part < (split ? 3 : 1); ++part)
      for (int tap = 0; tap < taps; ++tap)
        for (int o = 0; o < cout; ++o)
          for (int c = 0; c < slab; ++c) {
            const std::size_t index = (static_cast<std::size_t>(o) * static_cast<std::size_t>(cin) +
                                       static_cast<std::size_t>(group * slab + c)) *
                                          static_cast<std::size_t>(taps) +
                                      static_cast<std::size_t>(tap);
            const float value = weight[index] * scale;
            const __half high = __float2half_rn(value);
            packed.push_back(part == 1 ? bits_of(__float2half_rn(value - __half2float(high)))
                                       : bits_of(high));
          }
  return packed;
}

}  // namespace diarist::backend::cuda
