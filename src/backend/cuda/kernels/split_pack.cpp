#include "backend/cuda/kernels/split_pack.hpp"

#include <cmath>

#include "backend/cuda/kernels/frame_head.hpp"
#include "backend/cuda/kernels/lstm.hpp"
#include "backend/cuda/kernels/split_half.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kUnits = kLstmUnits, kGateRows = 4 * kUnits;

}  // namespace

std::vector<std::uint16_t> pack_split_rows(std::span<const float> matrix, int rows, int columns,
                                           int depth, float scale, std::span<const int> order) {
  std::vector<std::uint16_t> packed;
  packed.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(2 * depth));
  for (int r = 0; r < rows; ++r) {
    const auto source = static_cast<std::size_t>(order.empty() ? r : order[std::size_t(r)]);
    const float* const row = matrix.data() + source * static_cast<std::size_t>(columns);
    for (int part = 0; part < 2; ++part)
      for (int c = 0; c < depth; ++c)
        packed.push_back(c < columns ? split_half(row[c] * scale, part) : std::uint16_t{0});
  }
  return packed;
}

std::vector<int> gate_order() {
  std::vector<int> order;
  for (int unit = 0; unit < kUnits; ++unit)
    for (int gate = 0; gate < 4; ++gate) order.push_back(gate * kUnits + unit);
  return order;
}

std::vector<std::uint16_t> pack_gate_inputs(const model::BiLstm& lstm, int depth,
                                            const float (&scale)[2]) {
  std::vector<std::uint16_t> packed;
  const std::vector<int> order = gate_order();
  for (int direction = 0; direction < 2; ++direction) {
    const base::TensorF& matrix = lstm.input_weight[direction];
    const std::vector<std::uint16_t> half =
        pack_split_rows(matrix.values(), kGateRows, static_cast<int>(matrix.dim(1)), depth,
                        scale[direction], order);
    packed.insert(packed.end(), half.begin(), half.end());
  }
  return packed;
}

std::vector<std::uint16_t> pack_recurrent(const model::BiLstm& lstm, const float (&scale)[2]) {
  std::vector<std::uint16_t> packed;
  packed.reserve(std::size_t{2} * 2 * kGateRows * kUnits);
  for (int direction = 0; direction < 2; ++direction) {
    const float* const weight = lstm.recurrent_weight[direction].data();
    for (int part = 0; part < 2; ++part)
      for (int block = 0; block < kUnits / 8; ++block)
        for (int tile = 0; tile < 2; ++tile)
          for (int k = 0; k < kUnits / 16; ++k)
            for (int lane = 0; lane < 32; ++lane)
              for (int word = 0; word < 4; ++word)
                for (int half = 0; half < 2; ++half) {
                  const int gate = 2 * tile + (word & 1), unit = 8 * block + lane / 4;
                  const int from = 16 * k + 8 * (word >> 1) + 2 * (lane % 4) + half;
                  packed.push_back(split_half(
                      weight[(gate * kUnits + unit) * kUnits + from] * scale[direction], part));
                }
  }
  return packed;
}

std::vector<std::uint16_t> pack_classifier(std::span<const float> matrix, float scale) {
  std::vector<std::uint16_t> packed;
  for (int k = 0; k < kFrameHidden / 16; ++k)
    for (int lane = 0; lane < 32; ++lane)
      for (int part = 0; part < 2; ++part)
        for (int word = 0; word < 2; ++word)
          for (int half = 0; half < 2; ++half) {
            const int row = lane / 4, column = 16 * k + 8 * word + 2 * (lane % 4) + half;
            const float value =
                row < kFrameClasses
                    ? matrix[static_cast<std::size_t>(row * kFrameHidden + column)] * scale
                    : 0.0F;
            packed.push_back(split_half(value, part));
          }
  return packed;
}

}  // namespace diarist::backend::cuda
