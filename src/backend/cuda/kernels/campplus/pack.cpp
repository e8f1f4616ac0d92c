// Host-side packing of CAM++'s weights.

#include <cmath>

#include "backend/cuda/kernels/campplus/frames.hpp"
#include "backend/cuda/kernels/campplus/map_conv.hpp"
#include "backend/cuda/kernels/split_half.hpp"

namespace diarist::backend::cuda::campplus {
namespace {

/// Channel of a row when a thread's sums shall be eight neighbours: see the headers.
int grouped_row(int row) {
  const int j = row % 32 / 8, q = row % 8 / 2, e = row % 2;
  return row / 32 * 32 + 8 * q + 2 * j + e;
}

std::size_t index_of(int row, int columns, int column) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
         static_cast<std::size_t>(column);
}

}  // namespace

std::vector<std::uint16_t> pack_map_conv(const float* weight, int taps, bool exact, float scale) {
  std::vector<std::uint16_t> packed;
  for (int part = 0; part < (exact ? 2 : 1); ++part)
    for (int tap = 0; tap < taps; ++tap)
      for (int row = 0; row < 32; ++row)
        for (int c = 0; c < 32; ++c)
          packed.push_back(
              split_half(weight[index_of(grouped_row(row) * 32 + c, taps, tap)] * scale, part));
  return packed;
}

std::vector<std::uint16_t> pack_row_product(const float* weight, int outputs, int inputs,
                                            bool exact, bool grouped, float scale) {
  std::vector<std::uint16_t> packed;
  packed.reserve(index_of(outputs, inputs, 0) * (exact ? 2 : 1));
  for (int first = 0; first < outputs; first += 128)
    for (int chunk = 0; chunk < inputs; chunk += 32)
      for (int part = 0; part < (exact ? 2 : 1); ++part)
        for (int row = first; row < first + 128; ++row)
          for (int c = chunk; c < chunk + 32; ++c)
            packed.push_back(split_half(
                weight[index_of(grouped ? grouped_row(row) : row, inputs, c)] * scale, part));
  return packed;
}

std::vector<std::uint16_t> pack_local(const float* weight, bool exact, float scale) {
  std::vector<std::uint16_t> packed;
  for (int part = 0; part < (exact ? 2 : 1); ++part)
    for (int chunk = 0; chunk < kHidden; chunk += 32)
      for (int tap = 0; tap < 3; ++tap)
        for (int o = 0; o < kGrowth; ++o)
          for (int c = chunk; c < chunk + 32; ++c)
            packed.push_back(split_half(weight[index_of(o * kHidden + c, 3, tap)] * scale, part));
  return packed;
}

FoldedAffine fold_affine(const float* scale, const float* offset, int columns) {
  // Beyond this an offset in units of |s| would leave the range of halves, or nearly.
  constexpr float kMost = 16384.0F;
  FoldedAffine folded;
  for (int first = 0; first < columns; first += 2) {
    std::uint16_t words[4];
    for (int e = 0; e < 2; ++e) {
      const float s = scale[first + e], o = offset[first + e];
      const float size = std::fmax(std::fabs(s), std::fabs(o) / kMost);
      const float factor = size > 0 ? size : 1;
      folded.factors.push_back(factor);
      words[e] = split_half(s / factor, 0);
      words[2 + e] = split_half(o / factor, 0);
    }
    folded.pairs.insert(folded.pairs.end(), words, words + 4);
  }
  return folded;
}

std::vector<float> pack_affine(const float* scale, const float* offset, int columns) {
  std::vector<float> packed;
  for (int first = 0; first < columns; first += 2)
    packed.insert(packed.end(), {scale[first], scale[first + 1], offset[first], offset[first + 1]});
  return packed;
}

}  // namespace diarist::backend::cuda::campplus
