#include "backend/cuda/kernels/split_product.hpp"

#include <cuda_fp16.h>

#include <cmath>
#include <cstring>

namespace diarist::backend::cuda {
namespace {

std::uint16_t bits_of(__half value) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace

float split_scale(const float* values, std::size_t count) {
  float largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::fmax(largest, std::fabs(values[i]));
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0F, 7 - std::ilogb(largest));
}

std::vector<std::uint16_t> pack_split(int columns, int depth, float scale,
                                      const std::function<float(int, int)>& weight) {
  std::vector<std::uint16_t> packed;
  packed.reserve(static_cast<std::size_t>(columns) * static_cast<std::size_t>(depth) * 2);
  for (int step = 0; step < depth / 16; ++step)
    for (int tile = 0; tile < columns / 8; ++tile)
      for (int lane = 0; lane < 32; ++lane)
        for (int part = 0; part < 2; ++part)
          for (int i = 0; i < 4; ++i) {
            const int k = step * 16 + 2 * (lane % 4) + i % 2 + 8 * (i / 2);
            const float value = weight(tile * 8 + lane / 4, k) * scale;
            const __half high = __float2half_rn(value);
            packed.push_back(
                bits_of(part == 0 ? high : __float2half_rn(value - __half2float(high))));
          }
  return packed;
}

}  // namespace diarist::backend::cuda
