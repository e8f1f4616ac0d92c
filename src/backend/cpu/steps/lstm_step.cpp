// One bidirectional LSTM layer for a tile of windows. Both the products with the inputs (a stretch
// of time steps at once) and the recurrence (one step of all windows at once) are matrix products,
// so weights are read once per tile. The two directions are independent parts.

#include <algorithm>
#include <array>
#include <vector>

#include "backend/cpu/kernels/gemm.hpp"
#include "backend/cpu/kernels/lstm_cell.hpp"
#include "backend/cpu/packed_weights.hpp"
#include "backend/cpu/steps/steps.hpp"
#include "base/error.hpp"

namespace diarist::backend::cpu {
namespace {

using std::int64_t;

constexpr int kTile = 12;       // windows: full register tiles with 12 and with 6 rows
constexpr int64_t kSteps = 16;  // time steps whose input products are made at once

class BiLstmStep : public TileStep {
 public:
  BiLstmStep(const model::BiLstm& block, const NodeShapes& shapes)
      : target_(shapes.target),
        kernels_(gemm_kernels(shapes.target)),
        cells_(lstm_kernels(shapes.target)),
        in_(block.input_weight[0].dim(1)),
        units_(block.recurrent_weight[0].dim(1)),
        padded_((units_ + cells_.lanes - 1) / cells_.lanes * cells_.lanes) {
    for (std::size_t d = 0; d < 2; ++d) {
      if (block.recurrent_weight[d].dim(0) != 4 * units_) {
        base::fail(ErrorCode::kInternal, "an LSTM's recurrent weights are not [4H, H]");
      }
      input_.push_back(pack(block.input_weight[d], &block.bias[d]));
      recurrent_.push_back(pack(block.recurrent_weight[d], nullptr));
    }
  }

  int parts() const noexcept override { return 2; }
  int max_tile() const noexcept override { return kTile; }

  void run(int part, std::span<const Argument> inputs, std::span<const Argument> outputs,
           float* scratch, const std::stop_token& stop) const override {
    const auto direction = static_cast<std::size_t>(part);
    const auto windows = static_cast<int64_t>(inputs.size());
    const int64_t time = inputs[0].time;
    const int64_t gates_width = 4 * padded_;
    float* x = scratch;                                   // [step][window][in]
    float* gates = x + kSteps * kTile * packed_in();      // [step][window][4 * padded]
    float* state = gates + kSteps * kTile * gates_width;  // [window][padded]
    float* hidden = state + kTile * padded_;
    std::fill_n(state, windows * padded_, 0.0F);
    std::fill_n(hidden, windows * padded_, 0.0F);

    for (int64_t first = 0; first < time; first += kSteps) {
      base::check_stop(stop);
      const int64_t steps = std::min(kSteps, time - first);
      const auto frame = [&](int64_t step) {
        return part == 0 ? first + step : time - 1 - first - step;
      };
      for (int64_t s = 0; s < steps; ++s) {
        for (int64_t w = 0; w < windows; ++w) {
          std::copy_n(inputs[static_cast<std::size_t>(w)].floats() + frame(s) * in_, in_,
                      x + (s * windows + w) * packed_in());
        }
      }
      const float* a = x;
      Gemm gemm = input_[direction].gemm();
      gemm.a = &a;
      gemm.a_stride = packed_in();
      gemm.rows = steps * windows;
      gemm.out = gates;
      gemm.out_stride = gates_width;
      kernels_.run(gemm);

      a = hidden;
      gemm = recurrent_[direction].gemm();
      gemm.a = &a;
      gemm.a_stride = padded_;
      gemm.rows = windows;
      gemm.out_stride = gemm.add_stride = gates_width;
      for (int64_t s = 0; s < steps; ++s) {
        gemm.out = gates + s * windows * gates_width;
        gemm.add = gemm.out;
        kernels_.run(gemm);
        cells_.cells(gemm.out, static_cast<int>(windows), static_cast<int>(padded_), state, hidden);
        for (int64_t w = 0; w < windows; ++w) {
          std::copy_n(
              hidden + w * padded_, units_,
              outputs[static_cast<std::size_t>(w)].floats() + (frame(s) * 2 + part) * units_);
        }
      }
    }
  }

  int64_t scratch_floats(int64_t) const override {
    return kTile * (kSteps * (packed_in() + 4 * padded_) + 2 * padded_);
  }
  std::string kernel() const override {
    return fmt::format("LSTM, tiles of up to {} windows, {}", kTile, gemm_name(target_));
  }
  std::string reason() const override {
    return "windows of a batch share every read of the weights; one direction per task";
  }

 private:
  int64_t packed_in() const { return packed_stride(in_); }

  /// Columns in the order of LstmKernels::cells; units beyond the end have zero weights.
  PackedWeights pack(const base::TensorF& weight, const base::TensorF* bias) const {
    const int64_t depth = weight.dim(1);
    const int64_t lanes = cells_.lanes;
    const auto source = [this, lanes](int column) -> int64_t {
      const int64_t unit = column / (4 * lanes) * lanes + column % lanes;
      const int64_t gate = column / lanes % 4;
      return unit < units_ ? gate * units_ + unit : -1;
    };
    return {kernels_,
            static_cast<int>(4 * padded_),
            1,
            static_cast<int>(depth),
            [&](int c, int, int k) {
              const int64_t row = source(c);
              return row < 0 ? 0.0F : weight.data()[row * depth + k];
            },
            [&](int c) {
              const int64_t row = source(c);
              return row < 0 || bias == nullptr ? 0.0F : bias->data()[row];
            }};
  }

  int64_t target_;
  const GemmKernels& kernels_;
  const LstmKernels& cells_;
  int64_t in_, units_, padded_;
  std::vector<PackedWeights> input_, recurrent_;
};

}  // namespace

std::unique_ptr<TileStep> tile_step_of(const model::BiLstm& block, const NodeShapes& shapes) {
  return std::make_unique<BiLstmStep>(block, shapes);
}

}  // namespace diarist::backend::cpu
