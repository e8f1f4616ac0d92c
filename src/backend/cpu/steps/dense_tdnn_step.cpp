// The dense blocks of CAM++ (campplus.md (b)). One buffer of all final columns is the output; every
// layer reads the columns so far, and writes its own behind them.

#include <algorithm>
#include <array>
#include <vector>

#include "backend/cpu/kernels/gemm.hpp"
#include "backend/cpu/kernels/lstm_cell.hpp"
#include "backend/cpu/kernels/rows.hpp"
#include "backend/cpu/packed_weights.hpp"
#include "backend/cpu/steps/steps.hpp"

namespace diarist::backend::cpu {
namespace {

using std::int64_t;

constexpr int64_t kSegment = 100;  // frames that share a gate

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

PackedWeights pack_local(const GemmKernels& kernels, const base::TensorF& weight) {
  const int64_t depth = weight.dim(1);
  const int64_t taps = weight.dim(2);
  return {kernels,
          static_cast<int>(weight.dim(0)),
          static_cast<int>(taps),
          static_cast<int>(depth),
          [&](int c, int tap, int k) { return weight.data()[(c * depth + k) * taps + tap]; },
          [](int) { return 0.0F; }};
}

struct Layer {
  Layer(const GemmKernels& kernels, const model::DenseTdnnLayer& layer)
      : pre_scale(layer.pre_scale),
        pre_offset(layer.pre_offset),
        reduce(pack_matrix(kernels, layer.reduce_weight, layer.reduce_bias)),
        local(pack_local(kernels, layer.local_weight)),
        gate1(pack_matrix(kernels, layer.gate1_weight, layer.gate1_bias)),
        gate2(pack_matrix(kernels, layer.gate2_weight, layer.gate2_bias)) {}

  base::TensorF pre_scale, pre_offset;
  PackedWeights reduce, local, gate1, gate2;
};

class DenseTdnnStep : public Step {
 public:
  DenseTdnnStep(const model::DenseTdnnBlock& block, const NodeShapes& shapes)
      : target_(shapes.target),
        kernels_(gemm_kernels(shapes.target)),
        rows_(row_kernels(shapes.target)),
        cells_(lstm_kernels(shapes.target)),
        dilation_(block.dilation),
        in_(shapes.inputs[0].shape[1]),
        out_(shapes.output.shape[1]) {
    layers_.reserve(block.layers.size());
    for (const model::DenseTdnnLayer& layer : block.layers) {
      layers_.emplace_back(kernels_, layer);
      hidden_ = std::max<int64_t>(hidden_, layers_.back().reduce.columns());
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
      const float* next = i + 1 < layers_.size() ? layers_[i + 1].reduce.gemm().weights : nullptr;
      run_layer(layers_[i], buffer, time, columns, next, call.scratch);
      columns += layers_[i].local.columns();
    }
  }

  int64_t scratch_floats(int64_t time) const override {
    const int64_t segments = time / kSegment + 1;
    return 2 * hidden_ * (segments + 1) + segments * (hidden_ + 2 * gates_) +
           (time + 2 * dilation_) * hidden_ + strip_rows() * packed_stride(out_) + 64;
  }
  std::string kernel() const override { return "dense TDNN, " + gemm_name(target_); }
  std::string reason() const override {
    return "one growing buffer; norm and ReLU are applied to a strip of rows in the cache";
  }

 private:
  int64_t strip_rows() const { return 12 * kernels_.tile_rows; }

  /// \param next the first weights that the next layer reads.
  void run_layer(const Layer& layer, float* buffer, int64_t time, int64_t columns,
                 const float* next, float* scratch) const {
    const int64_t segments = (time + kSegment - 1) / kSegment;
    const int64_t width = layer.reduce.columns();
    double* means = reinterpret_cast<double*>(scratch);  // of all frames, then of every segment
    float* context = scratch + 2 * hidden_ * (segments + 1);
    float* gate1 = context + segments * hidden_;
    float* gate2 = gate1 + segments * gates_;
    float* hidden = gate2 + segments * gates_;  // [dilation + time + dilation][width]
    float* strip = hidden + (time + 2 * dilation_) * hidden_;

    std::fill_n(hidden, dilation_ * width, 0.0F);
    std::fill_n(hidden + (dilation_ + time) * width, dilation_ * width, 0.0F);
    float* frames = hidden + dilation_ * width;
    reduce(layer, buffer, time, columns, strip, frames);

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

    for (int64_t s = 0; s < segments; ++s) {
      const int64_t first = s * kSegment;
      Gemm gemm = layer.local.gemm();
      std::array<const float*, 3> a;
      for (std::size_t tap = 0; tap < a.size(); ++tap) {
        a[tap] = hidden + (first + static_cast<int64_t>(tap) * dilation_) * width;
      }
      gemm.a = a.data();
      gemm.a_stride = width;
      gemm.next = next;
      gemm.rows = std::min(kSegment, time - first);
      gemm.scale = gate2 + s * layer.gate2.columns();
      gemm.out = buffer + first * out_ + columns;
      gemm.out_stride = out_;
      kernels_.run(gemm);
    }
  }

  void reduce(const Layer& layer, const float* buffer, int64_t time, int64_t columns, float* strip,
              float* frames) const {
    Gemm gemm = layer.reduce.gemm();
    const float* a = strip;
    gemm.a = &a;
    gemm.a_stride = packed_stride(columns);
    gemm.out_stride = layer.reduce.columns();
    gemm.activation = model::Activation::kRelu;
    gemm.next = layer.local.gemm().weights;
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
