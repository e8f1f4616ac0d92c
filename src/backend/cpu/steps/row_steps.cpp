// Blocks on rows: convolutions in time, dense layers, decisions, gathering.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "backend/cpu/kernels/gemm.hpp"
#include "backend/cpu/kernels/rows.hpp"
#include "backend/cpu/packed_weights.hpp"
#include "backend/cpu/steps/steps.hpp"
#include "base/error.hpp"

namespace diarist::backend::cpu {
namespace {

using std::int64_t;

/// Without dilation the inputs of an output are one stretch of memory, so all taps are one.
class Conv1dStep : public Step {
 public:
  Conv1dStep(const model::Conv1d& block, const NodeShapes& shapes)
      : target_(shapes.target),
        kernels_(gemm_kernels(shapes.target)),
        rows_(row_kernels(shapes.target)),
        block_(block),
        out_(block.weight.dim(0)),
        in_(block.weight.dim(1)),
        size_(block.weight.dim(2)),
        joined_(block.dilation == 1),
        weights_(
            kernels_, static_cast<int>(out_), joined_ ? 1 : static_cast<int>(size_),
            static_cast<int>(joined_ ? size_ * in_ : in_),
            [&](int c, int tap, int k) {
              const int64_t channel = joined_ ? k % in_ : k;
              const int64_t place = joined_ ? k / in_ : tap;
              return block.weight.data()[(c * in_ + channel) * size_ + place];
            },
            [&](int c) { return block.bias.data()[c]; }) {}

  void run(const StepCall& call) const override {
    const int64_t time = call.inputs[0].time;
    const int64_t padded = time + 2 * block_.padding;
    const float* in = call.inputs[0].floats();
    double* sums = reinterpret_cast<double*>(call.scratch);
    float* free = call.scratch + 6 * out_;
    if (block_.padding > 0) {
      std::fill_n(free, block_.padding * in_, 0.0F);
      std::copy_n(in, time * in_, free + block_.padding * in_);
      std::fill_n(free + (block_.padding + time) * in_, block_.padding * in_, 0.0F);
      in = free;
      free += padded * in_;
    }
    const int64_t reach = block_.dilation * (size_ - 1) + 1;
    const int64_t count = padded < reach ? 0 : 1 + (padded - reach) / block_.stride;
    const bool after = block_.pool3 || block_.norm.has_value();
    float* out = call.output.floats();

    Gemm gemm = weights_.gemm();
    std::array<const float*, kMaxTaps> a;
    for (int64_t j = 0; j < gemm.taps; ++j) {
      a[static_cast<std::size_t>(j)] = in + j * block_.dilation * in_;
    }
    gemm.a = a.data();
    gemm.a_stride = block_.stride * in_;
    gemm.rows = block_.pool3 ? count / 3 * 3 : count;
    gemm.out = block_.pool3 ? free : out;
    gemm.out_stride = out_;
    gemm.activation = after ? model::Activation::kNone : block_.activation;
    kernels_.run(gemm);
    if (!after) return;

    const int64_t rows = call.output.time;
    const int columns = static_cast<int>(out_);
    if (block_.pool3) rows_.pool3(free, rows, columns, out);
    float* shift = call.scratch + 4 * out_;
    float* factor = shift + out_;
    const float* offset = zeros_.data();
    if (block_.norm) {
      const double n = static_cast<double>(rows);
      rows_.moments({out, rows, out_, columns}, nullptr, n, sums, sums + out_);
      for (int64_t c = 0; c < out_; ++c) {
        shift[c] = static_cast<float>(sums[c]);
        factor[c] = static_cast<float>(static_cast<double>(block_.norm->weight.data()[c]) /
                                       std::sqrt(sums[out_ + c] / n + 1e-5));
      }
      offset = block_.norm->bias.data();
    } else {
      if (block_.activation == model::Activation::kNone) return;
      std::fill_n(shift, out_, 0.0F);
      std::fill_n(factor, out_, 1.0F);
    }
    rows_.normalize(out, rows, columns, shift, factor, offset, block_.activation);
  }

  int64_t scratch_floats(int64_t time) const override {
    const int64_t padded = time + 2 * block_.padding;
    return 6 * out_ + (block_.padding > 0 ? padded * in_ : 0) + (block_.pool3 ? padded * out_ : 0);
  }
  std::string kernel() const override {
    return (joined_ ? "sliding " : "tap by tap ") + gemm_name(target_);
  }
  std::string reason() const override {
    return joined_ ? "no dilation: all taps of an output are one stretch of memory"
                   : "dilation: one product per tap";
  }

  static constexpr std::size_t kMaxTaps = 64;

 private:
  int64_t target_;
  const GemmKernels& kernels_;
  const RowKernels& rows_;
  model::Conv1d block_;
  int64_t out_, in_, size_;
  bool joined_;
  PackedWeights weights_;
  std::vector<float> zeros_ = std::vector<float>(static_cast<std::size_t>(out_), 0.0F);
};

class DenseStep : public Step {
 public:
  DenseStep(const model::Dense& block, const NodeShapes& shapes)
      : target_(shapes.target),
        kernels_(gemm_kernels(shapes.target)),
        rows_(row_kernels(shapes.target)),
        scale_(block.pre_scale),
        offset_(block.pre_offset),
        activation_(block.activation),
        in_(block.weight.dim(1)),
        weights_(
            kernels_, static_cast<int>(block.weight.dim(0)), 1, static_cast<int>(in_),
            [&](int c, int, int k) { return block.weight.data()[c * in_ + k]; },
            [&](int c) { return block.bias.data()[c]; }) {}

  void run(const StepCall& call) const override {
    Gemm gemm = weights_.gemm();
    gemm.out_stride = weights_.columns();
    gemm.activation = activation_;
    const int64_t strip = strip_rows();
    for (int64_t row = 0; row < call.output.time; row += strip) {
      gemm.rows = std::min(strip, call.output.time - row);
      const float* a = call.inputs[0].floats() + row * in_;
      gemm.a_stride = in_;
      if (!scale_.empty()) {
        gemm.a_stride = packed_stride(in_);
        rows_.scaled_relu({a, gemm.rows, in_, static_cast<int>(in_)}, scale_.data(), offset_.data(),
                          call.scratch, gemm.a_stride);
        a = call.scratch;
      }
      gemm.a = &a;
      gemm.out = call.output.floats() + row * gemm.out_stride;
      kernels_.run(gemm);
    }
  }

  int64_t scratch_floats(int64_t) const override {
    return scale_.empty() ? 0 : strip_rows() * packed_stride(in_);
  }
  std::string kernel() const override { return gemm_name(target_); }
  std::string reason() const override {
    return scale_.empty() ? "rows are used where they lie"
                          : "norm and ReLU are applied to a strip of rows in the cache";
  }

 private:
  int64_t strip_rows() const { return 12 * kernels_.tile_rows; }

  int64_t target_;
  const GemmKernels& kernels_;
  const RowKernels& rows_;
  base::TensorF scale_, offset_;
  model::Activation activation_;
  int64_t in_;
  PackedWeights weights_;
};

class LogSoftmaxStep : public Step {
 public:
  explicit LogSoftmaxStep(const NodeShapes& shapes) : columns_(shapes.output.shape[1]) {}
  void run(const StepCall& call) const override {
    for (int64_t t = 0; t < call.output.time; ++t) {
      const float* x = call.inputs[0].floats() + t * columns_;
      float* y = call.output.floats() + t * columns_;
      const double top = static_cast<double>(*std::max_element(x, x + columns_));
      double sum = 0;
      for (int64_t c = 0; c < columns_; ++c) sum += std::exp(static_cast<double>(x[c]) - top);
      const double log_sum = std::log(sum);
      for (int64_t c = 0; c < columns_; ++c) {
        y[c] = static_cast<float>(static_cast<double>(x[c]) - top - log_sum);
      }
    }
  }
  int64_t scratch_floats(int64_t) const override { return 0; }
  std::string kernel() const override { return "plain double"; }
  std::string reason() const override { return "seven numbers per frame"; }

 private:
  int64_t columns_;
};

class PowersetDecisionStep : public Step {
 public:
  explicit PowersetDecisionStep(const NodeShapes& shapes) : columns_(shapes.inputs[0].shape[1]) {}
  void run(const StepCall& call) const override {
    auto* classes = static_cast<std::uint8_t*>(call.output.data);
    for (int64_t t = 0; t < call.output.time; ++t) {
      const float* x = call.inputs[0].floats() + t * columns_;
      classes[t] = static_cast<std::uint8_t>(std::max_element(x, x + columns_) - x);
    }
  }
  int64_t scratch_floats(int64_t) const override { return 0; }
  std::string kernel() const override { return "plain"; }
  std::string reason() const override { return "seven numbers per frame"; }

 private:
  int64_t columns_;
};

class EmbeddingMasksStep : public Step {
 public:
  void run(const StepCall& call) const override {
    const auto* classes = static_cast<const std::uint8_t*>(call.inputs[0].data);
    const int64_t frames = call.inputs[0].time;
    // The speakers of a class as bits; class s + 1 is speaker s alone.
    constexpr std::uint8_t kBits[7] = {0, 1, 2, 4, 3, 5, 6};
    for (int64_t s = 0; s < 3; ++s) {
      float* mask = call.output.floats() + s * frames;
      const auto alone = static_cast<std::uint8_t>(s + 1);
      const bool clean = std::count(classes, classes + frames, alone) > kLeastCleanFrames;
      for (int64_t t = 0; t < frames; ++t) {
        const bool set = clean ? classes[t] == alone : (kBits[classes[t]] >> s & 1) != 0;
        mask[t] = set ? 1.0F : 0.0F;
      }
    }
  }
  int64_t scratch_floats(int64_t) const override { return 0; }
  std::string kernel() const override { return "plain"; }
  std::string reason() const override { return "one pass over the classes per speaker"; }

 private:
  static constexpr int64_t kLeastCleanFrames = 2;  // pipeline.md 6
};

class GatherRowsStep : public Step {
 public:
  explicit GatherRowsStep(const NodeShapes& shapes) : columns_(shapes.output.shape[1]) {}
  void run(const StepCall& call) const override {
    const auto* indices = static_cast<const std::int32_t*>(call.inputs[1].data);
    const int64_t rows = call.inputs[0].time;
    for (int64_t t = 0; t < call.output.time; ++t) {
      const std::int32_t row = indices[t];
      if (row < 0 || row >= rows) {
        base::fail(ErrorCode::kInternal, "row {} of {} was asked for by a gather", row, rows);
      }
      std::copy_n(call.inputs[0].floats() + row * columns_, columns_,
                  call.output.floats() + t * columns_);
    }
  }
  int64_t scratch_floats(int64_t) const override { return 0; }
  std::string kernel() const override { return "copy"; }
  std::string reason() const override { return "indices are checked against the shared rows"; }

 private:
  int64_t columns_;
};

}  // namespace

std::unique_ptr<Step> step_of(const model::Conv1d& block, const NodeShapes& shapes) {
  if (block.dilation != 1 && block.weight.dim(2) > static_cast<int64_t>(Conv1dStep::kMaxTaps)) {
    base::fail(ErrorCode::kUnsupported, "a dilated convolution of {} taps: at most {}",
               block.weight.dim(2), Conv1dStep::kMaxTaps);
  }
  if (uses_bf16(shapes) && suits_bf16(block)) return bf16_step_of(block, shapes);
  return std::make_unique<Conv1dStep>(block, shapes);
}

std::unique_ptr<Step> step_of(const model::Dense& block, const NodeShapes& shapes) {
  if (uses_bf16(shapes)) return bf16_step_of(block, shapes);
  return std::make_unique<DenseStep>(block, shapes);
}

std::unique_ptr<Step> step_of(const model::LogSoftmax&, const NodeShapes& shapes) {
  return std::make_unique<LogSoftmaxStep>(shapes);
}

std::unique_ptr<Step> step_of(const model::PowersetDecision&, const NodeShapes& shapes) {
  return std::make_unique<PowersetDecisionStep>(shapes);
}

std::unique_ptr<Step> step_of(const model::EmbeddingMasks&, const NodeShapes&) {
  return std::make_unique<EmbeddingMasksStep>();
}

std::unique_ptr<Step> step_of(const model::GatherRows&, const NodeShapes& shapes) {
  return std::make_unique<GatherRowsStep>(shapes);
}

}  // namespace diarist::backend::cpu
