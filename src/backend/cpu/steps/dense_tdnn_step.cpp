// The dense blocks of CAM++ (campplus.md (b)). One buffer of all final columns is the output; every
// layer reads the columns so far, and writes its own behind them.

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "backend/cpu/bf16_weights.hpp"
#include "backend/cpu/kernels/gemm.hpp"
#include "backend/cpu/kernels/lstm_cell.hpp"
#include "backend/cpu/kernels/rows.hpp"
#include "backend/cpu/packed_weights.hpp"
#include "backend/cpu/steps/steps.hpp"

namespace diarist::backend::cpu {
namespace {

using std::int64_t;

constexpr int64_t kSegment = 100;  // frames that share a gate
constexpr int64_t kBf16Strip = 6 * kBf16Block;

PackedWeights pack_matrix(const GemmKernels& kernels, const base::TensorF& weight,
                          const base::TensorF& bias) {
  const int64_t depth = weight.dim(1);
  return {kernels,
          static_cast<int>(weight.dim(0)),
          1,
          static_cast<int>(depth),
          [&](int c, int, int k) { return weight.data()[c * depth + k]; },
          [&](int c) { return bias.data()[c]; }};
}

/// A weight [Cout, Cin, K] by column, tap and k.
auto tap_reader(const base::TensorF& weight) {
  return [data = weight.data(), depth = weight.dim(1), taps = weight.dim(2)](
             int c, int tap, int k) { return data[(c * depth + k) * taps + tap]; };
}

float no_bias(int /*column*/) { return 0.0F; }

PackedWeights pack_local(const GemmKernels& kernels, const base::TensorF& weight) {
  return {kernels,
          static_cast<int>(weight.dim(0)),
          static_cast<int>(weight.dim(2)),
          static_cast<int>(weight.dim(1)),
          tap_reader(weight),
          no_bias};
}

/// The two large products of a layer in bf16.
struct Bf16Layer {
  explicit Bf16Layer(const model::DenseTdnnLayer& layer)
      : reduce(
            static_cast<int>(layer.reduce_weight.dim(0)), 1,
            static_cast<int>(layer.reduce_weight.dim(1)), false,
            [&](int c, int, int k) {
              return layer.reduce_weight.data()[c * layer.reduce_weight.dim(1) + k];
            },
            [&](int c) { return layer.reduce_bias.data()[c]; }),
        local(static_cast<int>(layer.local_weight.dim(0)),
              static_cast<int>(layer.local_weight.dim(2)),
              static_cast<int>(layer.local_weight.dim(1)), false, tap_reader(layer.local_weight),
              no_bias) {}

  Bf16Weights reduce, local;
};

struct Layer {
  Layer(const GemmKernels& kernels, const model::DenseTdnnLayer& layer, bool bf16)
      : pre_scale(layer.pre_scale),
        pre_offset(layer.pre_offset),
        hidden(layer.reduce_weight.dim(0)),
        out(layer.local_weight.dim(0)),
        gate1(pack_matrix(kernels, layer.gate1_weight, layer.gate1_bias)),
        gate2(pack_matrix(kernels, layer.gate2_weight, layer.gate2_bias)) {
    if (bf16) {
      in_bf16.emplace(layer);
    } else {
      reduce.emplace(pack_matrix(kernels, layer.reduce_weight, layer.reduce_bias));
      local.emplace(pack_local(kernels, layer.local_weight));
    }
  }

  base::TensorF pre_scale, pre_offset;
  int64_t hidden, out;
  std::optional<PackedWeights> reduce, local;  // one of the two forms
  std::optional<Bf16Layer> in_bf16;
  PackedWeights gate1, gate2;
};

class DenseTdnnStep : public Step {
 public:
  DenseTdnnStep(const model::DenseTdnnBlock& block, const NodeShapes& shapes)
      : target_(shapes.target),
        kernels_(gemm_kernels(shapes.target)),
        rows_(row_kernels(shapes.target)),
        cells_(lstm_kernels(shapes.target)),
        bf16_(shapes.bf16),
        dilation_(block.dilation),
        in_(shapes.inputs[0].shape[1]),
        out_(shapes.output.shape[1]) {
    layers_.reserve(block.layers.size());
    for (const model::DenseTdnnLayer& layer : block.layers) {
      layers_.emplace_back(kernels_, layer, bf16_ != nullptr);
      hidden_ = std::max(hidden_, layers_.back().hidden);
      gates_ = std::max<int64_t>(
          {gates_, layers_.back().gate1.columns(), layers_.back().gate2.columns()});
    }
  }

  void run(const StepCall& call) const override {
    const int64_t time = call.output.time;
    float* buffer = call.output.floats();
    for (int64_t t = 0; t < time; ++t) {
      std::copy_n(call.inputs[0].floats() + t * in_, in_, buffer + t * out_);
    }
    int64_t columns = in_;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      call.check_stop();
      const bool more = i + 1 < layers_.size() && bf16_ == nullptr;
      const float* next = more ? layers_[i + 1].reduce->gemm().weights : nullptr;
      run_layer(layers_[i], buffer, time, columns, next, call.scratch);
      columns += layers_[i].out;
    }
  }

  int64_t scratch_floats(int64_t time) const override {
    const int64_t segments = time / kSegment + 1;
    const int64_t sums = 2 * hidden_ * (segments + 1) + segments * (hidden_ + 2 * gates_) +
                         (time + 2 * dilation_) * hidden_ + 64;
    if (bf16_ == nullptr) return sums + strip_rows() * packed_stride(out_);
    return sums +
           std::max(kBf16Strip * bf16_stride(out_), bf16_rows(time) * bf16_columns(hidden_)) / 2;
  }
  std::string kernel() const override {
    return "dense TDNN, " + (bf16_ == nullptr ? gemm_name(target_) : bf16_name(*bf16_));
  }
  std::string reason() const override {
    return "one growing buffer; norm and ReLU are applied to a strip of rows in the cache";
  }

 private:
  int64_t strip_rows() const { return 12 * kernels_.tile_rows; }
  /// Rows of the local convolution's input; blocks of outputs near the end read beyond.
  int64_t bf16_rows(int64_t time) const { return time + 2 * dilation_ + kBf16Block; }

  /// \param next the first weights that the next layer reads.
  void run_layer(const Layer& layer, float* buffer, int64_t time, int64_t columns,
                 const float* next, float* scratch) const {
    const int64_t segments = (time + kSegment - 1) / kSegment;
    const int64_t width = layer.hidden;
    double* means = reinterpret_cast<double*>(scratch);  // of all frames, then of every segment
    float* context = scratch + 2 * hidden_ * (segments + 1);
    float* gate1 = context + segments * hidden_;
    float* gate2 = gate1 + segments * gates_;
    float* hidden = gate2 + segments * gates_;  // [dilation + time + dilation][width]
    float* strip = hidden + (time + 2 * dilation_) * hidden_;

    std::fill_n(hidden, dilation_ * width, 0.0F);
    std::fill_n(hidden + (dilation_ + time) * width, dilation_ * width, 0.0F);
    float* frames = hidden + dilation_ * width;
    if (bf16_ == nullptr) {
      reduce(layer, buffer, time, columns, strip, frames);
    } else {
      // Aligned, as rows of tiles are cache lines.
      const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(strip) % 64;
      strip += (64 - past) % 64 / 4;
      reduce_bf16(layer, buffer, time, columns, reinterpret_cast<Bf16*>(strip), frames);
    }

    rows_.moments({frames, time, width, static_cast<int>(width)}, nullptr,
                  static_cast<double>(time), means, nullptr);
    for (int64_t s = 0; s < segments; ++s) {
      const int64_t first = s * kSegment;
      const int64_t count = std::min(kSegment, time - first);
      double* segment = means + (s + 1) * width;
      rows_.moments({frames + first * width, count, width, static_cast<int>(width)}, nullptr,
                    static_cast<double>(count), segment, nullptr);
      for (int64_t c = 0; c < width; ++c) {
        context[s * width + c] = static_cast<float>(means[c] + segment[c]);
      }
    }
    product(layer.gate1, context, width, segments, model::Activation::kRelu, gate1);
    product(layer.gate2, gate1, layer.gate1.columns(), segments, model::Activation::kNone, gate2);
    cells_.sigmoid(gate2, static_cast<int>(segments * layer.gate2.columns()));

    float* out = buffer + columns;
    if (bf16_ == nullptr) {
      local(layer, hidden, time, gate2, next, out);
    } else {
      local_bf16(layer, hidden, time, gate2, reinterpret_cast<Bf16*>(strip), out);
    }
  }

  void local(const Layer& layer, const float* hidden, int64_t time, const float* gate,
             const float* next, float* out) const {
    const int64_t width = layer.hidden;
    for (int64_t first = 0; first < time; first += kSegment) {
      Gemm gemm = layer.local->gemm();
      std::array<const float*, 3> a;
      for (std::size_t tap = 0; tap < a.size(); ++tap) {
        a[tap] = hidden + (first + static_cast<int64_t>(tap) * dilation_) * width;
      }
      gemm.a = a.data();
      gemm.a_stride = width;
      gemm.next = next;
      gemm.rows = std::min(kSegment, time - first);
      gemm.scale = gate + first / kSegment * layer.gate2.columns();
      gemm.out = out + first * out_;
      gemm.out_stride = out_;
      kernels_.run(gemm);
    }
  }

  void local_bf16(const Layer& layer, const float* hidden, int64_t time, const float* gate,
                  Bf16* rows, float* out) const {
    const int64_t width = bf16_columns(layer.hidden);
    bf16_->convert({hidden, time + 2 * dilation_, layer.hidden, static_cast<int>(layer.hidden)},
                   rows, width, nullptr);
    for (int64_t first = 0; first < time; first += kSegment) {
      Bf16Product product = layer.in_bf16->local.product();
      std::array<const Bf16*, 3> a;
      for (std::size_t tap = 0; tap < a.size(); ++tap) {
        a[tap] = rows + (first + static_cast<int64_t>(tap) * dilation_) * width;
      }
      product.a = a.data();
      product.a_stride = width;
      product.rows = std::min(kSegment, time - first);
      product.scale = gate + first / kSegment * layer.gate2.columns();
      product.out = out + first * out_;
      product.out_stride = out_;
      bf16_->run(product);
    }
  }

  void reduce_bf16(const Layer& layer, const float* buffer, int64_t time, int64_t columns,
                   Bf16* strip, float* frames) const {
    Bf16Product product = layer.in_bf16->reduce.product();
    const Bf16* a = strip;
    product.a = &a;
    product.a_stride = bf16_stride(columns);
    product.out_stride = layer.hidden;
    product.activation = model::Activation::kRelu;
    for (int64_t row = 0; row < time; row += kBf16Strip) {
      product.rows = std::min(kBf16Strip, time - row);
      bf16_->scaled_relu({buffer + row * out_, product.rows, out_, static_cast<int>(columns)},
                         layer.pre_scale.data(), layer.pre_offset.data(), strip, product.a_stride,
                         nullptr);
      product.out = frames + row * product.out_stride;
      bf16_->run(product);
    }
  }

  void reduce(const Layer& layer, const float* buffer, int64_t time, int64_t columns, float* strip,
              float* frames) const {
    Gemm gemm = layer.reduce->gemm();
    const float* a = strip;
    gemm.a = &a;
    gemm.a_stride = packed_stride(columns);
    gemm.out_stride = layer.hidden;
    gemm.activation = model::Activation::kRelu;
    gemm.next = layer.local->gemm().weights;
    for (int64_t row = 0; row < time; row += strip_rows()) {
      gemm.rows = std::min(strip_rows(), time - row);
      rows_.scaled_relu({buffer + row * out_, gemm.rows, out_, static_cast<int>(columns)},
                        layer.pre_scale.data(), layer.pre_offset.data(), strip, gemm.a_stride);
      gemm.out = frames + row * gemm.out_stride;
      kernels_.run(gemm);
    }
  }

  void product(const PackedWeights& weights, const float* a, int64_t stride, int64_t rows,
               model::Activation activation, float* out) const {
    Gemm gemm = weights.gemm();
    gemm.a = &a;
    gemm.a_stride = stride;
    gemm.rows = rows;
    gemm.out = out;
    gemm.out_stride = weights.columns();
    gemm.activation = activation;
    kernels_.run(gemm);
  }

  int64_t target_;
  const GemmKernels& kernels_;
  const RowKernels& rows_;
  const LstmKernels& cells_;
  const Bf16Kernels* bf16_;  // null: FP32
  int64_t dilation_, in_, out_;
  int64_t hidden_ = 0;
  int64_t gates_ = 0;
  std::vector<Layer> layers_;
};

}  // namespace

std::unique_ptr<Step> step_of(const model::DenseTdnnBlock& block, const NodeShapes& shapes) {
  return std::make_unique<DenseTdnnStep>(block, shapes);
}

}  // namespace diarist::backend::cpu
