#include "backend/cuda/kernels/split_product.hpp"

#include "backend/cuda/kernels/split_half.hpp"

namespace diarist::backend::cuda {

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
            packed.push_back(split_half(weight(tile * 8 + lane / 4, k) * scale, part));
          }
  return packed;
}

std::vector<std::uint16_t> pack_split_rows(int rows, int depth, float scale,
                                           const std::function<float(int, int)>& weight) {
  std::vector<std::uint16_t> packed;
  packed.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(depth) * 2);
  for (int part = 0; part < 2; ++part)
    for (int eighth = 0; eighth < depth / 8; ++eighth)
      for (int row = 0; row < rows; ++row)
        for (int i = 0; i < 8; ++i)
          packed.push_back(split_half(weight(row, eighth * 8 + i) * scale, part));
  return packed;
}

}  // namespace diarist::backend::cuda
