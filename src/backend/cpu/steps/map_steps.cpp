// Blocks on frequency x time maps.

#include <algorithm>
#include <array>

#include "backend/cpu/kernels/gemm.hpp"
#include "backend/cpu/kernels/rows.hpp"
#include "backend/cpu/packed_weights.hpp"
#include "backend/cpu/steps/steps.hpp"
#include "base/error.hpp"
#include "model/shapes.hpp"

namespace diarist::backend::cpu {
namespace {

using std::int64_t;

/// 3x3 or 1x1 convolution straight from the input map: a tap is a pointer into it.
class Conv2dStep : public Step {
 public:
  Conv2dStep(const model::Conv2d& block, const NodeShapes& shapes)
      : target_(shapes.target),
        kernels_(gemm_kernels(shapes.target)),
        size_(static_cast<int>(block.weight.dim(2))),
        out_(block.weight.dim(0)),
        in_(block.weight.dim(1)),
        frequency_in_(shapes.inputs[0].shape[1]),
        frequency_out_(shapes.output.shape[1]),
        stride_f_(block.stride_frequency),
        stride_t_(block.stride_time),
        relu_(block.relu),
        residual_(shapes.inputs.size() == 2),
        weights_(
            kernels_, static_cast<int>(out_), size_ * size_, static_cast<int>(in_),
            [&](int c, int tap, int k) {
              return block.weight.data()[(c * in_ + k) * size_ * size_ + tap];
            },
            [&](int c) { return block.bias.data()[c]; }) {
    if (size_ != 1 && size_ != 3) {
      base::fail(ErrorCode::kUnsupported, "a {0}x{0} convolution of maps: only 1x1 and 3x3", size_);
    }
  }

  void run(const StepCall& call) const override {
    const int64_t time = call.output.time;
    Gemm gemm = weights_.gemm();
    gemm.rows = time;
    gemm.a_stride = stride_t_ * in_;
    gemm.out_stride = out_;
    gemm.add_stride = out_;
    gemm.activation = relu_ ? model::Activation::kRelu : model::Activation::kNone;
    clear_map_edges(call.output.floats(), out_, frequency_out_, time);
    if (!blocks_outside()) {
      for (int64_t f = 0; f < frequency_out_; ++f) row(call, f, gemm);
      return;
    }
    for (int block = 0; block < weights_.blocks(); ++block) {
      gemm.first_block = block;
      gemm.last_block = block + 1;
      for (int64_t f = 0; f < frequency_out_; ++f) row(call, f, gemm);
    }
  }

  int64_t scratch_floats(int64_t) const override { return 0; }
  std::string kernel() const override {
    return fmt::format("direct {0}x{0} convolution, {1}", size_, gemm_name(target_));
  }
  std::string reason() const override {
    return fmt::format("channels last, weights of {} kB {}", weights_.bytes() / 1000,
                       blocks_outside() ? "exceed the cache: one block of output channels at a time"
                                        : "stay in the cache: one row of the map at a time");
  }

 private:
  /// Whether to go over the whole map once per block of output channels.
  bool blocks_outside() const { return weights_.bytes() > 256 * 1024; }

  void row(const StepCall& call, int64_t f, Gemm gemm) const {
    call.check_stop();
    std::array<const float*, 9> a;
    std::array<int, 9> tap;
    const int64_t width = call.inputs[0].time + 2;
    const int pad = size_ / 2;
    int taps = 0;
    for (int i = 0; i < size_; ++i) {
      const int64_t from = f * stride_f_ + i - pad;
      if (from < 0 || from >= frequency_in_) continue;  // zeros above and below the map
      for (int j = 0; j < size_; ++j) {
        a[static_cast<std::size_t>(taps)] =
            call.inputs[0].floats() + (from * width + j - pad + 1) * in_;
        tap[static_cast<std::size_t>(taps++)] = i * size_ + j;
      }
    }
    gemm.taps = taps;
    gemm.a = a.data();
    gemm.tap = tap.data();
    const int64_t place = (f * (call.output.time + 2) + 1) * out_;
    gemm.out = call.output.floats() + place;
    if (residual_) gemm.add = call.inputs[1].floats() + place;
    kernels_.run(gemm);
  }

  int64_t target_;
  const GemmKernels& kernels_;
  int size_;
  int64_t out_, in_, frequency_in_, frequency_out_, stride_f_, stride_t_;
  bool relu_, residual_;
  PackedWeights weights_;
};

/// The three frequencies of a tap are neighbours in a row of features, so the convolution of one
/// channel is three taps in time of depth three.
class StemStep : public Step {
 public:
  StemStep(const model::Stem& block, const NodeShapes& shapes)
      : target_(shapes.target),
        kernels_(gemm_kernels(shapes.target)),
        moments_(row_kernels(shapes.target)),
        out_(block.weight.dim(0)),
        bands_(shapes.inputs[0].shape[1]),
        remove_mean_(block.remove_mean),
        weights_(
            kernels_, static_cast<int>(out_), 3, 3,
            [&](int c, int tap, int k) { return block.weight.data()[c * 9 + k * 3 + tap]; },
            [&](int c) { return block.bias.data()[c]; }) {}

  void run(const StepCall& call) const override {
    const int64_t time = call.output.time;
    const int64_t width = bands_ + 2;
    double* mean = reinterpret_cast<double*>(call.scratch);
    float* image = call.scratch + 2 * bands_;  // [time + 2][bands + 2], zeros around
    const float* in = call.inputs[0].floats();
    if (remove_mean_) {
      moments_.moments({in, time, bands_, static_cast<int>(bands_)}, nullptr,
                       static_cast<double>(time), mean, nullptr);
    } else {
      std::fill_n(mean, bands_, 0.0);
    }
    std::fill_n(image, width, 0.0F);
    for (int64_t t = 0; t < time; ++t) {
      float* row = image + (t + 1) * width;
      row[0] = row[width - 1] = 0.0F;
      for (int64_t b = 0; b < bands_; ++b) {
        row[b + 1] = static_cast<float>(static_cast<double>(in[t * bands_ + b]) - mean[b]);
      }
    }
    std::fill_n(image + (time + 1) * width, width, 0.0F);
    clear_map_edges(call.output.floats(), out_, bands_, time);

    Gemm gemm = weights_.gemm();
    gemm.rows = time;
    gemm.a_stride = width;
    gemm.out_stride = out_;
    gemm.activation = model::Activation::kRelu;
    for (int64_t f = 0; f < bands_; ++f) {
      const std::array<const float*, 3> a{image + f, image + width + f, image + 2 * width + f};
      gemm.a = a.data();
      gemm.out = call.output.floats() + (f * (time + 2) + 1) * out_;
      kernels_.run(gemm);
    }
  }

  int64_t scratch_floats(int64_t time) const override {
    return 2 * bands_ + (time + 2) * (bands_ + 2);
  }
  std::string kernel() const override { return "stem, " + gemm_name(target_); }
  std::string reason() const override {
    return "one input channel: neighbouring bands serve as the inner dimension";
  }

 private:
  int64_t target_;
  const GemmKernels& kernels_;
  const RowKernels& moments_;
  int64_t out_, bands_;
  bool remove_mean_;
  PackedWeights weights_;
};

class MapToRowsStep : public Step {
 public:
  explicit MapToRowsStep(const NodeShapes& shapes)
      : channels_(shapes.inputs[0].shape[0]), frequency_(shapes.inputs[0].shape[1]) {}

  void run(const StepCall& call) const override {
    const int64_t time = call.output.time;
    const float* map = call.inputs[0].floats();
    for (int64_t t = 0; t < time; ++t) {
      float* row = call.output.floats() + t * channels_ * frequency_;
      for (int64_t f = 0; f < frequency_; ++f) {
        const float* from = map + (f * (time + 2) + t + 1) * channels_;
        for (int64_t c = 0; c < channels_; ++c) row[c * frequency_ + f] = from[c];
      }
    }
  }

  int64_t scratch_floats(int64_t) const override { return 0; }
  std::string kernel() const override { return "transpose"; }
  std::string reason() const override { return "maps lie channels last"; }

 private:
  int64_t channels_, frequency_;
};

}  // namespace

std::unique_ptr<Step> step_of(const model::Conv2d& block, const NodeShapes& shapes) {
  if (uses_bf16(shapes)) return bf16_step_of(block, shapes);
  if (suits_winograd(block, shapes.target)) return winograd_step_of(block, shapes);
  return std::make_unique<Conv2dStep>(block, shapes);
}

std::unique_ptr<Step> step_of(const model::Stem& block, const NodeShapes& shapes) {
  return std::make_unique<StemStep>(block, shapes);
}

std::unique_ptr<Step> step_of(const model::MapToRows&, const NodeShapes& shapes) {
  return std::make_unique<MapToRowsStep>(shapes);
}

}  // namespace diarist::backend::cpu
