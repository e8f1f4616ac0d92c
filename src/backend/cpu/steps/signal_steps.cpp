// Log-mel, and what follows the sinc convolution per window.

#include <cmath>
#include <vector>

#include "backend/cpu/kernels/log_mel.hpp"
#include "backend/cpu/kernels/rows.hpp"
#include "backend/cpu/steps/steps.hpp"

namespace diarist::backend::cpu {
namespace {

using std::int64_t;

class LogMelStep : public Step {
 public:
  LogMelStep(const model::LogMel& block, const NodeShapes& shapes)
      : kernels_(log_mel_kernels(shapes.target)), tables_(block) {}

  void run(const StepCall& call) const override {
    kernels_.run(tables_, call.inputs[0].floats(), call.output.time, call.output.floats());
  }
  int64_t scratch_floats(int64_t) const override { return 0; }
  std::string kernel() const override { return "log-mel, double"; }
  std::string reason() const override {
    return "one frame per vector lane; double costs little beside the networks";
  }

 private:
  const LogMelKernels& kernels_;
  LogMelTables tables_;
};

class SincPoolStep : public Step {
 public:
  SincPoolStep(const model::SincPool& block, const NodeShapes& shapes)
      : kernels_(row_kernels(shapes.target)),
        columns_(block.filters.dim(0)),
        samples_(shapes.inputs[0].shape[0]),
        waveform_weight_(static_cast<double>(block.waveform.weight.data()[0])),
        waveform_bias_(static_cast<double>(block.waveform.bias.data()[0])),
        norm_(block.norm),
        tap_sum_(static_cast<std::size_t>(columns_)) {
    const int64_t taps = block.filters.dim(1);
    for (int64_t c = 0; c < columns_; ++c) {
      double sum = 0;
      for (int64_t k = 0; k < taps; ++k) {
        sum += static_cast<double>(block.filters.data()[c * taps + k]);
      }
      tap_sum_[static_cast<std::size_t>(c)] = sum;
    }
  }

  void run(const StepCall& call) const override {
    double mean = 0;
    double variance = 0;
    kernels_.signal_moments(call.inputs[0].floats(), samples_, &mean, &variance);
    const double scale = waveform_weight_ / std::sqrt(variance + 1e-5);
    // The norm makes scale*(x - mean) + bias out of a sample, so a filter output becomes
    // scale*(raw - mean*taps) + bias*taps.
    double* sums = reinterpret_cast<double*>(call.scratch);
    float* shift = call.scratch + 4 * columns_;
    float* factor = shift + columns_;
    float* offset = factor + columns_;
    for (int64_t c = 0; c < columns_; ++c) {
      const double taps = tap_sum_[static_cast<std::size_t>(c)];
      shift[c] = static_cast<float>(mean * taps);
      offset[c] = static_cast<float>(waveform_bias_ * taps);
    }
    const int64_t rows = call.output.time;
    const int columns = static_cast<int>(columns_);
    float* out = call.output.floats();
    kernels_.pool3_affine(call.inputs[1].floats(), rows, columns, shift, static_cast<float>(scale),
                          offset, out);
    const double n = static_cast<double>(rows);
    kernels_.moments({out, rows, columns_, columns}, nullptr, n, sums, sums + columns_);
    for (int64_t c = 0; c < columns_; ++c) {
      shift[c] = static_cast<float>(sums[c]);
      factor[c] = static_cast<float>(static_cast<double>(norm_.weight.data()[c]) /
                                     std::sqrt(sums[columns_ + c] / n + 1e-5));
    }
    kernels_.normalize(out, rows, columns, shift, factor, norm_.bias.data(),
                       model::Activation::kLeakyRelu);
  }
  int64_t scratch_floats(int64_t) const override { return 7 * columns_; }
  std::string kernel() const override { return "affine + pool + norm"; }
  std::string reason() const override {
    return "raw filter outputs are shared by all windows; sums in double";
  }

 private:
  const RowKernels& kernels_;
  int64_t columns_, samples_;
  double waveform_weight_, waveform_bias_;
  model::InstanceNorm norm_;
  std::vector<double> tap_sum_;
};

}  // namespace

std::unique_ptr<Step> step_of(const model::LogMel& block, const NodeShapes& shapes) {
  return std::make_unique<LogMelStep>(block, shapes);
}

std::unique_ptr<Step> step_of(const model::SincPool& block, const NodeShapes& shapes) {
  return std::make_unique<SincPoolStep>(block, shapes);
}

}  // namespace diarist::backend::cpu
