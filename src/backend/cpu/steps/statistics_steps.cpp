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

/// Masked mean and deviation of every sequence of a map, in the order of the map in memory
/// (frequency, channel): per mask first all means, then all deviations.
class MaskedStatistics {
 public:
  MaskedStatistics(const model::MaskedStatsHead& block, const NodeShapes& shapes)
      : rows_(row_kernels(shapes.target)),
        channels_(shapes.inputs[0].shape[0]),
        frequency_(shapes.inputs[0].shape[1]),
        mask_frames_(shapes.inputs[1].shape[1]),
        mask_is_float_(shapes.inputs[1].type == model::ElementType::kF32),
        speakers_(block.speakers) {}

  int64_t speakers() const { return speakers_; }
  int64_t sequences() const { return channels_ * frequency_; }
  /// Row of the block's definition (channel*F + frequency) of sequence k in memory.
  int64_t row(int64_t k) const { return k % channels_ * frequency_ + k / channels_; }

  /// The statistics [speakers, 2 * sequences], inside the call's scratch.
  const float* run(const StepCall& call) const {
    const int64_t time = call.inputs[0].time;
    double* mean = reinterpret_cast<double*>(call.scratch);
    double* squares = mean + channels_;
    float* statistics = call.scratch + 4 * channels_;
    float* weights = statistics + speakers_ * 2 * sequences();
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
      float* means = statistics + s * 2 * sequences();
      for (int64_t f = 0; f < frequency_; ++f) {
        const float* from = call.inputs[0].floats() + (f * (time + 2) + 1) * channels_;
        rows_.moments({from, time, channels_, static_cast<int>(channels_)}, weights,
                      static_cast<double>(sum), mean, squares);
        float* to = means + f * channels_;
        for (int64_t c = 0; c < channels_; ++c) {
          to[c] = static_cast<float>(mean[c]);
          to[sequences() + c] =
              static_cast<float>(std::sqrt(squares[c] / static_cast<double>(divisor)));
        }
      }
    }
    return statistics;
  }
  int64_t scratch_floats(int64_t time) const {
    return 4 * channels_ + speakers_ * 2 * sequences() + time;
  }

 private:
  float mask(const Argument& masks, int64_t at) const {
    return mask_is_float_ ? static_cast<const float*>(masks.data)[at]
                          : static_cast<float>(static_cast<const std::uint8_t*>(masks.data)[at]);
  }

  const RowKernels& rows_;
  int64_t channels_, frequency_, mask_frames_;
  bool mask_is_float_;
  int64_t speakers_;
};

/// The head's weights are packed in the order of the statistics.
class MaskedStatsHeadStep : public Step {
 public:
  MaskedStatsHeadStep(const model::MaskedStatsHead& block, const NodeShapes& shapes)
      : target_(shapes.target),
        kernels_(gemm_kernels(shapes.target)),
        statistics_(block, shapes),
        weights_(
            kernels_, static_cast<int>(block.weight.dim(0)), 1,
            static_cast<int>(block.weight.dim(1)),
            [&](int c, int, int k) {
              const int64_t sequences = statistics_.sequences();
              return block.weight
                  .data()[(c * 2 + k / sequences) * sequences + statistics_.row(k % sequences)];
            },
            [&](int c) { return block.bias.data()[c]; }) {}

  void run(const StepCall& call) const override {
    Gemm gemm = weights_.gemm();
    const float* a = statistics_.run(call);
    gemm.a = &a;
    gemm.a_stride = 2 * statistics_.sequences();
    gemm.rows = statistics_.speakers();
    gemm.out = call.output.floats();
    gemm.out_stride = weights_.columns();
    kernels_.run(gemm);
  }
  int64_t scratch_floats(int64_t time) const override { return statistics_.scratch_floats(time); }
  std::string kernel() const override { return "two masked passes + " + gemm_name(target_); }
  std::string reason() const override { return "all masks share one product with the head"; }

 private:
  int64_t target_;
  const GemmKernels& kernels_;
  MaskedStatistics statistics_;
  PackedWeights weights_;
};

/// The same without a head: a tap.
class MaskedStatsStep : public Step {
 public:
  MaskedStatsStep(const model::MaskedStatsHead& block, const NodeShapes& shapes)
      : statistics_(block, shapes) {}

  void run(const StepCall& call) const override {
    const float* from = statistics_.run(call);
    float* to = call.output.floats();
    const int64_t sequences = statistics_.sequences();
    for (int64_t half = 0; half < 2 * statistics_.speakers(); ++half)
      for (int64_t k = 0; k < sequences; ++k)
        to[half * sequences + statistics_.row(k)] = from[half * sequences + k];
  }
  int64_t scratch_floats(int64_t time) const override { return statistics_.scratch_floats(time); }
  std::string kernel() const override { return "two masked passes"; }
  std::string reason() const override { return "statistics without a head"; }

 private:
  MaskedStatistics statistics_;
};

}  // namespace

std::unique_ptr<Step> step_of(const model::StatsHead& block, const NodeShapes& shapes) {
  return std::make_unique<StatsHeadStep>(block, shapes);
}

std::unique_ptr<Step> step_of(const model::MaskedStatsHead& block, const NodeShapes& shapes) {
  if (block.weight.empty()) return std::make_unique<MaskedStatsStep>(block, shapes);
  return std::make_unique<MaskedStatsHeadStep>(block, shapes);
}

}  // namespace diarist::backend::cpu
