// Convolutions and dense layers whose products are bf16, for `--precision fast`. Values between
// layers stay FP32: a step rounds the rows that it is about to multiply.

#include <algorithm>
#include <array>

#include "backend/cpu/bf16_weights.hpp"
#include "backend/cpu/steps/steps.hpp"
#include "base/error.hpp"

namespace diarist::backend::cpu {
namespace {

using std::int64_t;

constexpr int64_t kStripRows = 6 * kBf16Block;

/// The taps of one product; a tap of split numbers is three.
class Taps {
 public:
  /// \param low what rounding left of `rows`; null: not split.
  void add(int tap, const Bf16* rows, const Bf16* low) {
    if (low == nullptr) {
      push(tap, rows);
      return;
    }
    push(kBf16Parts * tap, rows);
    push(kBf16Parts * tap + 1, low);
    push(kBf16Parts * tap + 2, rows);
  }
  /// The product must be run before this goes.
  void give(Bf16Product& product) const {
    product.taps = count_;
    product.a = rows_.data();
    product.tap = taps_.data();
  }

 private:
  void push(int tap, const Bf16* rows) {
    taps_[static_cast<std::size_t>(count_)] = tap;
    rows_[static_cast<std::size_t>(count_++)] = rows;
  }

  std::array<const Bf16*, kBf16Parts * kMostBf16Taps> rows_;
  std::array<int, kBf16Parts * kMostBf16Taps> taps_;
  int count_ = 0;
};

/// 3x3 or 1x1 convolution; the rows of the map that an output row needs lie in a ring of bf16 rows.
class Bf16Conv2dStep : public Step {
 public:
  Bf16Conv2dStep(const model::Conv2d& block, const NodeShapes& shapes)
      : kernels_(*shapes.bf16),
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
            static_cast<int>(out_), size_ * size_, static_cast<int>(in_), shapes.split,
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
    const int64_t width = call.inputs[0].time + 2;
    const int64_t depth = bf16_columns(in_);
    Bf16* ring = reinterpret_cast<Bf16*>(call.scratch);
    Bf16Product product = weights_.product();
    product.rows = time;
    product.a_stride = stride_t_ * depth;
    product.out_stride = product.add_stride = out_;
    product.activation = relu_ ? model::Activation::kRelu : model::Activation::kNone;
    clear_map_edges(call.output.floats(), out_, frequency_out_, time);
    const int pad = size_ / 2;
    int64_t converted = 0;
    for (int64_t f = 0; f < frequency_out_; ++f) {
      call.check_stop();
      Taps taps;
      for (int i = 0; i < size_; ++i) {
        const int64_t from = f * stride_f_ + i - pad;
        if (from < 0 || from >= frequency_in_) continue;  // zeros above and below the map
        Bf16* row = ring + from % size_ * parts() * ring_row(call.inputs[0].time);
        Bf16* low = weights_.split() ? row + ring_row(call.inputs[0].time) : nullptr;
        if (from >= converted) {
          kernels_.convert(
              {call.inputs[0].floats() + from * width * in_, width, in_, static_cast<int>(in_)},
              row, depth, low);
          converted = from + 1;
        }
        for (int j = 0; j < size_; ++j) {
          const int64_t at = (j - pad + 1) * depth;
          taps.add(i * size_ + j, row + at, low != nullptr ? low + at : nullptr);
        }
      }
      taps.give(product);
      const int64_t place = (f * (time + 2) + 1) * out_;
      product.out = call.output.floats() + place;
      if (residual_) product.add = call.inputs[1].floats() + place;
      kernels_.run(product);
    }
  }

  int64_t scratch_floats(int64_t time) const override {
    return size_ * parts() * ring_row(time) / 2;
  }
  std::string kernel() const override {
    return fmt::format("direct {0}x{0} convolution, {1}", size_, bf16_name(kernels_));
  }
  std::string reason() const override {
    return weights_.split() ? "fast: rows are split as they are met, three products"
                            : "fast: rows of the map are rounded as they are met";
  }

 private:
  int parts() const { return weights_.split() ? 2 : 1; }
  /// Numbers of a row of the ring; blocks of outputs near the end read beyond.
  int64_t ring_row(int64_t time) const { return (time + 2 + 2 * kBf16Block) * bf16_columns(in_); }

  const Bf16Kernels& kernels_;
  int size_;
  int64_t out_, in_, frequency_in_, frequency_out_, stride_f_, stride_t_;
  bool relu_, residual_;
  Bf16Weights weights_;
};

/// Convolution in time, without what only the segmentation network has behind it.
class Bf16Conv1dStep : public Step {
 public:
  Bf16Conv1dStep(const model::Conv1d& block, const NodeShapes& shapes)
      : kernels_(*shapes.bf16),
        out_(block.weight.dim(0)),
        in_(block.weight.dim(1)),
        size_(block.weight.dim(2)),
        stride_(block.stride),
        dilation_(block.dilation),
        padding_(block.padding),
        activation_(block.activation),
        weights_(
            static_cast<int>(out_), static_cast<int>(size_), static_cast<int>(in_), shapes.split,
            [&](int c, int tap, int k) { return block.weight.data()[(c * in_ + k) * size_ + tap]; },
            [&](int c) { return block.bias.data()[c]; }) {}

  void run(const StepCall& call) const override {
    const int64_t time = call.inputs[0].time;
    const int64_t depth = bf16_columns(in_);
    Bf16* rows = reinterpret_cast<Bf16*>(call.scratch);
    Bf16* low = weights_.split() ? rows + room(time) : nullptr;
    for (Bf16* part : {rows, low}) {
      if (part == nullptr) continue;
      std::fill_n(part, padding_ * depth, Bf16{0});
      std::fill_n(part + (padding_ + time) * depth, padding_ * depth, Bf16{0});
    }
    kernels_.convert({call.inputs[0].floats(), time, in_, static_cast<int>(in_)},
                     rows + padding_ * depth, depth,
                     low != nullptr ? low + padding_ * depth : nullptr);
    Taps taps;
    for (int j = 0; j < weights_.taps(); ++j) {
      const int64_t at = j * dilation_ * depth;
      taps.add(j, rows + at, low != nullptr ? low + at : nullptr);
    }
    Bf16Product product = weights_.product();
    taps.give(product);
    product.a_stride = stride_ * depth;
    product.rows = call.output.time;
    product.out = call.output.floats();
    product.out_stride = out_;
    product.activation = activation_;
    kernels_.run(product);
  }

  int64_t scratch_floats(int64_t time) const override {
    return (weights_.split() ? 2 : 1) * room(time) / 2;
  }
  std::string kernel() const override { return "tap by tap " + bf16_name(kernels_); }
  std::string reason() const override { return "fast: all rows are rounded once"; }

 private:
  /// Numbers of all rows; blocks of outputs near the end read beyond.
  int64_t room(int64_t time) const {
    return (time + 2 * padding_ + kBf16Block * stride_) * bf16_columns(in_);
  }

  const Bf16Kernels& kernels_;
  int64_t out_, in_, size_, stride_, dilation_, padding_;
  model::Activation activation_;
  Bf16Weights weights_;
};

class Bf16DenseStep : public Step {
 public:
  Bf16DenseStep(const model::Dense& block, const NodeShapes& shapes)
      : kernels_(*shapes.bf16),
        scale_(block.pre_scale),
        offset_(block.pre_offset),
        activation_(block.activation),
        in_(block.weight.dim(1)),
        weights_(
            static_cast<int>(block.weight.dim(0)), 1, static_cast<int>(in_), shapes.split,
            [&](int c, int, int k) { return block.weight.data()[c * in_ + k]; },
            [&](int c) { return block.bias.data()[c]; }) {}

  void run(const StepCall& call) const override {
    Bf16* strip = reinterpret_cast<Bf16*>(call.scratch);
    Bf16* low = weights_.split() ? strip + kStripRows * bf16_stride(in_) : nullptr;
    Taps taps;
    taps.add(0, strip, low);
    Bf16Product product = weights_.product();
    taps.give(product);
    product.a_stride = bf16_stride(in_);
    product.out_stride = weights_.columns();
    product.activation = activation_;
    for (int64_t row = 0; row < call.output.time; row += kStripRows) {
      product.rows = std::min(kStripRows, call.output.time - row);
      const RowsIn rows{call.inputs[0].floats() + row * in_, product.rows, in_,
                        static_cast<int>(in_)};
      if (scale_.empty()) {
        kernels_.convert(rows, strip, product.a_stride, low);
      } else {
        kernels_.scaled_relu(rows, scale_.data(), offset_.data(), strip, product.a_stride, low);
      }
      product.out = call.output.floats() + row * product.out_stride;
      kernels_.run(product);
    }
  }

  int64_t scratch_floats(int64_t) const override {
    return (weights_.split() ? 2 : 1) * kStripRows * bf16_stride(in_) / 2;
  }
  std::string kernel() const override { return bf16_name(kernels_); }
  std::string reason() const override { return "fast: a strip of rows in the cache is rounded"; }

 private:
  const Bf16Kernels& kernels_;
  base::TensorF scale_, offset_;
  model::Activation activation_;
  int64_t in_;
  Bf16Weights weights_;
};

}  // namespace

std::string bf16_name(const Bf16Kernels& kernels) {
  return fmt::format("bf16 {} {}x{}", kernels.name, kBf16Block, kBf16Block);
}

int64_t bf16_stride(int64_t columns) {
  const int64_t stride = bf16_columns(columns);
  return stride % 512 == 0 ? stride + kBf16Chunk : stride;
}

bool uses_bf16(const NodeShapes& shapes) {
  return shapes.bf16 != nullptr && (!shapes.split || shapes.bf16->split_pays);
}

bool suits_bf16(const model::Conv1d& block) {
  return !block.pool3 && !block.norm.has_value() && block.weight.dim(2) <= kMostBf16Taps;
}

std::unique_ptr<Step> bf16_step_of(const model::Conv2d& block, const NodeShapes& shapes) {
  return std::make_unique<Bf16Conv2dStep>(block, shapes);
}

std::unique_ptr<Step> bf16_step_of(const model::Conv1d& block, const NodeShapes& shapes) {
  return std::make_unique<Bf16Conv1dStep>(block, shapes);
}

std::unique_ptr<Step> bf16_step_of(const model::Dense& block, const NodeShapes& shapes) {
  return std::make_unique<Bf16DenseStep>(block, shapes);
}

}  // namespace diarist::backend::cpu
