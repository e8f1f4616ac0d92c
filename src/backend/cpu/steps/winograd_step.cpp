// Convolutions of maps by Winograd's F(4x4, 3x3).

#include "backend/cpu/kernels/winograd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backend/cpu/packed_weights.hpp"
#include "backend/cpu/steps/steps.hpp"

namespace diarist::backend::cpu {
namespace {

using std::int64_t;

class WinogradStep : public Step {
 public:
  WinogradStep(const model::Conv2d& block, const NodeShapes& shapes)
      : kernels_(winograd_kernels(shapes.target)),
        out_(static_cast<int>(block.weight.dim(0))),
        in_(static_cast<int>(block.weight.dim(1))),
        frequency_(shapes.output.shape[1]),
        relu_(block.relu),
        residual_(shapes.inputs.size() == 2),
        bias_(block.bias),
        weights_(allocate_floats(int64_t{kWinogradPoints} * in_ * out_)) {
    std::array<double, kWinogradPoints> factors;
    for (int64_t c = 0; c < out_; ++c) {
      const int64_t first = c / kernels_.block * kernels_.block;
      const int64_t width = std::min<int64_t>(kernels_.block, out_ - first);
      for (int64_t k = 0; k < in_; ++k) {
        winograd_factors(block.weight.data() + (c * in_ + k) * 9, factors.data());
        for (int64_t point = 0; point < kWinogradPoints; ++point) {
          weights_[static_cast<std::size_t>((point * out_ + first) * in_ + k * width + c - first)] =
              static_cast<float>(factors[static_cast<std::size_t>(point)]);
        }
      }
    }
  }

  void run(const StepCall& call) const override {
    clear_map_edges(call.output.floats(), out_, frequency_, call.output.time);
    Winograd winograd;
    winograd.weights = weights_.get();
    winograd.bias = bias_.data();
    winograd.in = in_;
    winograd.out_channels = out_;
    winograd.frequency = frequency_;
    winograd.time = call.output.time;
    winograd.map = call.inputs[0].floats();
    winograd.out = call.output.floats();
    if (residual_) winograd.add = call.inputs[1].floats();
    winograd.relu = relu_;
    winograd.scratch = call.scratch;
    kernels_.run(winograd);
  }

  int64_t scratch_floats(int64_t) const override { return kernels_.scratch_floats(in_, out_); }
  std::string kernel() const override {
    return fmt::format("Winograd F(4x4, 3x3), products of {} columns", kernels_.block);
  }
  std::string reason() const override {
    return "stride 1 and whole vectors of channels: a quarter of the multiplications";
  }

 private:
  const WinogradKernels& kernels_;
  int out_, in_;
  int64_t frequency_;
  bool relu_, residual_;
  base::TensorF bias_;
  Aligned<float> weights_;
};

}  // namespace

bool suits_winograd(const model::Conv2d& block, std::int64_t target) {
  const int64_t lanes = winograd_kernels(target).lanes;
  // With few channels the transforms cost more than they save.
  return block.weight.dim(2) == 3 && block.stride_frequency == 1 && block.stride_time == 1 &&
         block.weight.dim(0) % lanes == 0 && block.weight.dim(1) % lanes == 0 &&
         block.weight.dim(1) >= 32;
}

std::unique_ptr<Step> winograd_step_of(const model::Conv2d& block, const NodeShapes& shapes) {
  return std::make_unique<WinogradStep>(block, shapes);
}

}  // namespace diarist::backend::cpu
