// The LSTM layer and the dense block of CAM++.

#include <algorithm>

#include "backend/cuda/blocks/dense_tdnn.hpp"
#include "backend/cuda/blocks/recurrence.hpp"
#include "backend/cuda/blocks/small_layers.hpp"
#include "backend/cuda/blocks/steps.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

/// The input products of both directions are one product; its rows are the gates unit by unit.
class BiLstmStep final : public Step {
 public:
  BiLstmStep(const model::BiLstm& block, const NodeShapes& shapes)
      : device_(shapes.device), units_(dim(block.recurrent_weight[0], 1)) {
    const int columns = dim(block.input_weight[0], 1);
    std::vector<float> weight, bias;
    for (int d = 0; d < 2; ++d) {
      const std::vector<float> w = interleave_gates(block.input_weight[d].data(), units_, columns);
      const std::vector<float> b = interleave_gates(block.bias[d].data(), units_, 1);
      weight.insert(weight.end(), w.begin(), w.end());
      bias.insert(bias.end(), b.begin(), b.end());
      recurrent_[d] = constants_.add(pack_recurrent(block.recurrent_weight[d].data(), units_));
    }
    input_.add(constants_, weight, 8 * units_, columns, 1, bias);
    constants_.upload(device_.index);
  }
  std::vector<Hidden> hidden() const override {
    return {{8 * units_, [](std::int64_t, std::int64_t out) { return out; }}};
  }
  cudaError_t run(const StepCall& call) const override {
    RowProduct product;
    product.input = call.inputs[0].in();
    product.input_pitch = input_.columns;
    product.product = input_.at(constants_);
    product.output = call.hidden[0].out();
    product.output_pitch = 8 * units_;
    DIARIST_LAUNCH(launch_row_product(product, call.items, call.output.longest, call.stream));
    RecurrenceArgs args;
    args.gates = call.hidden[0].in();
    args.output = call.output.out();
    for (int d = 0; d < 2; ++d) args.weights[d] = constants_.at(recurrent_[d]);
    args.units = units_;
    return launch_recurrence(args, call.items, device_.multiprocessors, device_.shared_bytes,
                             call.stream);
  }
  std::string kernel() const override { return "row_product, recurrence"; }
  std::string reason() const override { return "a CTA per direction and a few items"; }

 private:
  DeviceTraits device_;
  int units_;
  std::size_t recurrent_[2] = {};
  ProductConstants input_;
  Constants constants_;
};

/// Every layer reads the first columns of the output and appends its own.
class DenseTdnnStep final : public Step {
 public:
  DenseTdnnStep(const model::DenseTdnnBlock& block, const NodeShapes& shapes)
      : dilation_(block.dilation), in_(dim(shapes.inputs[0], 1)), width_(dim(shapes.output, 1)) {
    for (const model::DenseTdnnLayer& from : block.layers) {
      Layer layer;
      layer.reduce.add(constants_, from.reduce_weight.values(), dim(from.reduce_weight, 0),
                       dim(from.reduce_weight, 1), 1, from.reduce_bias.values(),
                       from.pre_scale.values(), from.pre_offset.values());
      layer.local.add(constants_, from.local_weight.values(), dim(from.local_weight, 0),
                      dim(from.local_weight, 1), dim(from.local_weight, 2), {});
      layer.middle = dim(from.gate1_weight, 0);
      layer.weight1 = constants_.add(transposed(from.gate1_weight));
      layer.bias1 = constants_.add(from.gate1_bias.values());
      layer.weight2 = constants_.add(transposed(from.gate2_weight));
      layer.bias2 = constants_.add(from.gate2_bias.values());
      columns_ = std::max(columns_, layer.reduce.outputs);
      growth_ = std::max(growth_, layer.local.outputs);
      layers_.push_back(layer);
    }
    constants_.upload(shapes.device.index);
  }
  std::vector<Hidden> hidden() const override {
    const auto segments = [](std::int64_t, std::int64_t out) {
      return (out + kSegmentFrames - 1) / kSegmentFrames;
    };
    return {{columns_, [](std::int64_t, std::int64_t out) { return out; }},
            {columns_, segments},
            {growth_, segments}};
  }
  cudaError_t run(const StepCall& call) const override {
    CopyArgs copy;
    copy.input = call.inputs[0].as<const std::byte>();
    copy.output = call.output.as<std::byte>();
    copy.width = copy.input_pitch = in_;
    copy.output_pitch = width_;
    DIARIST_LAUNCH(launch_copy(copy, call.items, call.output.longest, call.stream));
    int column = in_;
    for (const Layer& layer : layers_) {
      DIARIST_LAUNCH(run_layer(layer, call, column));
      column += layer.local.outputs;
    }
    return cudaSuccess;
  }
  std::string kernel() const override { return "row_product, context_gates"; }
  std::string reason() const override { return "layers append their columns in place"; }

 private:
  struct Layer {
    ProductConstants reduce, local;
    int middle = 0;
    std::size_t weight1 = 0, bias1 = 0, weight2 = 0, bias2 = 0;
  };

  static std::vector<float> transposed(const base::TensorF& matrix) {
    const auto rows = static_cast<std::size_t>(matrix.dim(0));
    const auto columns = static_cast<std::size_t>(matrix.dim(1));
    std::vector<float> result(rows * columns);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        result[c * rows + r] = matrix.values()[r * columns + c];
    return result;
  }

  cudaError_t run_layer(const Layer& layer, const StepCall& call, int column) const {
    const int longest = call.output.longest;
    RowProduct reduce;
    reduce.input = call.output.in();
    reduce.input_pitch = width_;
    reduce.product = layer.reduce.at(constants_);
    reduce.slope = 0;
    reduce.output = call.hidden[0].out();
    reduce.output_pitch = layer.reduce.outputs;
    DIARIST_LAUNCH(launch_row_product(reduce, call.items, longest, call.stream));
    ContextGatesArgs gates;
    gates.hidden = call.hidden[0].in();
    gates.sums = call.hidden[1].out();
    gates.gates = call.hidden[2].out();
    gates.weight1 = constants_.at(layer.weight1);
    gates.bias1 = constants_.at(layer.bias1);
    gates.weight2 = constants_.at(layer.weight2);
    gates.bias2 = constants_.at(layer.bias2);
    gates.columns = layer.reduce.outputs;
    gates.middle = layer.middle;
    gates.growth = layer.local.outputs;
    DIARIST_LAUNCH(launch_context_gates(gates, call.items, longest, call.stream));
    RowProduct local;
    local.input = call.hidden[0].in();
    local.input_pitch = layer.reduce.outputs;
    local.product = layer.local.at(constants_);
    local.dilation = dilation_;
    local.padding = dilation_ * (layer.local.taps / 2);
    local.output = call.output.out();
    local.output.base += column;
    local.output_pitch = width_;
    local.gates = call.hidden[2].in();
    return launch_row_product(local, call.items, longest, call.stream);
  }

  int dilation_, in_, width_, columns_ = 0, growth_ = 0;
  std::vector<Layer> layers_;
  Constants constants_;
};

}  // namespace

StepPtr step_of(const model::BiLstm& block, const NodeShapes& shapes) {
  return std::make_unique<BiLstmStep>(block, shapes);
}
StepPtr step_of(const model::DenseTdnnBlock& block, const NodeShapes& shapes) {
  return std::make_unique<DenseTdnnStep>(block, shapes);
}

}  // namespace diarist::backend::cuda::blocks
