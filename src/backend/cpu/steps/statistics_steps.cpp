// Pooling over time and the embedding heads behind it.

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernels/gemm.hpp"
#include "backend/cpu/kernels/rows.hpp"
#include "backend/cpu/packed_weights.hpp"
#include "backend/cpu/steps/steps.hpp"
#include "base/error.hpp"

namespace diarist::backend::cpu {
namespace {

using std::int64_t;

class StatsHeadStep : public Step {
 public:
  StatsHeadStep(const model::StatsHead& block, const NodeShapes& shapes)
      : target_(shapes.target),
        kernels_(gemm_kernels(shapes.target)),
        rows_(row_kernels(shapes.target)),
        columns_(shapes.inputs[0].shape[1]),
        weights_(
            kernels_, static_cast<int>(block.weight.dim(0)), 1, static_cast<int>(2 * columns_),
            [&](int c, int, int k) { return block.weight.data()[c * 2 * columns_ + k]; },
            [&](int c) { return block.bias.data()[c]; }) {}

  void run(const StepCall& call) const override {
    const int64_t time = call.inputs[0].time;
    if (time < 1) {
      base::fail(ErrorCode::kInternal, "an item without frames can't be pooled to an embedding");
    }
    double* mean = reinterpret_cast<double*>(call.scratch);
    double* squares = mean + columns_;
    float* statistics = call.scratch + 4 * columns_;
    rows_.moments({call.inputs[0].floats(), time, columns_, static_cast<int>(columns_)}, nullptr,
                  static_cast<double>(time), mean, squares);
    for (int64_t c = 0; c < columns_; ++c) {
      statistics[c] = static_cast<float>(mean[c]);
      statistics[columns_ + c] =
          time == 1 ? 0.01F
                    : static_cast<float>(std::sqrt(squares[c] / static_cast<double>(time - 1)));
    }
    Gemm gemm = weights_.gemm();
    const float* a = statistics;
    gemm.a = &a;
    gemm.rows = 1;
    gemm.out = call.output.floats();
    kernels_.run(gemm);
  }
  int64_t scratch_floats(int64_t) const override { return 6 * columns_; }
  std::string kernel() const override { return "two passes + " + gemm_name(target_); }
  std::string reason() const override { return "sums in double"; }

 private:
  int64_t target_;
  const GemmKernels& kernels_;
  const RowKernels& rows_;
  int64_t columns_;
  PackedWeights weights_;
};

/// Statistics stand in the order of the map in memory (frequency, channel); the head's weights are
/// packed to match.
class MaskedStatsHeadStep : public Step {
 public:
  MaskedStatsHeadStep(const model::MaskedStatsHead& block, const NodeShapes& shapes)
      : target_(shapes.target),
        kernels_(gemm_kernels(shapes.target)),
        rows_(row_kernels(shapes.target)),
        channels_(shapes.inputs[0].shape[0]),
        frequency_(shapes.inputs[0].shape[1]),
        mask_frames_(shapes.inputs[1].shape[1]),
        mask_is_float_(shapes.inputs[1].type == model::ElementType::kF32),
        speakers_(block.speakers),
        weights_(
            kernels_, static_cast<int>(block.weight.dim(0)), 1,
            static_cast<int>(block.weight.dim(1)),
            [&](int c, int, int k) {
              const int64_t sequences = channels_ * frequency_;
              const int64_t half = k / sequences;
              const int64_t f = k % sequences / channels_;
              const int64_t channel = k % channels_;
              return block.weight.data()[(c * 2 + half) * sequences + channel * frequency_ + f];
            },
            [&](int c) { return block.bias.data()[c]; }) {}

  void run(const StepCall& call) const override {
    const int64_t time = call.inputs[0].time;
    const int64_t sequences = channels_ * frequency_;
    double* mean = reinterpret_cast<double*>(call.scratch);
    double* squares = mean + channels_;
    float* statistics = call.scratch + 4 * channels_;
    float* weights = statistics + speakers_ * 2 * sequences;
    for (int64_t s = 0; s < speakers_; ++s) {
      // The two small numbers act in single precision: they vanish beside one frame, and decide
      // when there is none.
      float sum = 0.0F;
      float sum_of_squares = 0.0F;
      for (int64_t t = 0; t < time; ++t) {
        weights[t] = mask(call.inputs[1], s * mask_frames_ + t * mask_frames_ / time);
        sum += weights[t];
        sum_of_squares += weights[t] * weights[t];
      }
      sum += 1e-8F;
      const float divisor = sum - sum_of_squares / sum + 1e-8F;
      float* means = statistics + s * 2 * sequences;
      for (int64_t f = 0; f < frequency_; ++f) {
        const float* row = call.inputs[0].floats() + (f * (time + 2) + 1) * channels_;
        rows_.moments({row, time, channels_, static_cast<int>(channels_)}, weights,
                      static_cast<double>(sum), mean, squares);
        float* to = means + f * channels_;
        for (int64_t c = 0; c < channels_; ++c) {
          to[c] = static_cast<float>(mean[c]);
          to[sequences + c] =
              static_cast<float>(std::sqrt(squares[c] / static_cast<double>(divisor)));
        }
      }
    }
    Gemm gemm = weights_.gemm();
    const float* a = statistics;
    gemm.a = &a;
    gemm.a_stride = 2 * sequences;
    gemm.rows = speakers_;
    gemm.out = call.output.floats();
    gemm.out_stride = weights_.columns();
    kernels_.run(gemm);
  }
  int64_t scratch_floats(int64_t time) const override {
    return 4 * channels_ + speakers_ * 2 * channels_ * frequency_ + time;
  }
  std::string kernel() const override { return "two masked passes + " + gemm_name(target_); }
  std::string reason() const override { return "all masks share one product with the head"; }

 private:
  float mask(const Argument& masks, int64_t at) const {
    return mask_is_float_ ? static_cast<const float*>(masks.data)[at]
                          : static_cast<float>(static_cast<const std::uint8_t*>(masks.data)[at]);
  }

  int64_t target_;
  const GemmKernels& kernels_;
  const RowKernels& rows_;
  int64_t channels_, frequency_, mask_frames_;
  bool mask_is_float_;
  int64_t speakers_;
  PackedWeights weights_;
};

}  // namespace

std::unique_ptr<Step> step_of(const model::StatsHead& block, const NodeShapes& shapes) {
  return std::make_unique<StatsHeadStep>(block, shapes);
}

std::unique_ptr<Step> step_of(const model::MaskedStatsHead& block, const NodeShapes& shapes) {
  return std::make_unique<MaskedStatsHeadStep>(block, shapes);
}

}  // namespace diarist::backend::cpu
