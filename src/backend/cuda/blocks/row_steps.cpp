// Steps on rows.

#include "backend/cuda/blocks/small_layers.hpp"
#include "backend/cuda/blocks/statistics.hpp"
#include "backend/cuda/blocks/steps.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

class Conv1dStep final : public Step {
 public:
  Conv1dStep(const model::Conv1d& block, const NodeShapes& shapes)
      : stride_(block.stride),
        dilation_(block.dilation),
        padding_(block.padding),
        pool_(block.pool3),
        normed_(block.norm.has_value()),
        slope_(slope_of(block.activation)),
        norm_(dim(block.weight, 0)) {
    product_.add(constants_, block.weight.values(), dim(block.weight, 0), dim(block.weight, 1),
                 dim(block.weight, 2), block.bias.values());
    if (block.norm) norm_.add(constants_, *block.norm);
    constants_.upload(shapes.device.index);
  }
  std::vector<Hidden> hidden() const override {
    std::vector<Hidden> arrays;
    norm_.hide(arrays);  // also without a norm: small, and the places stay the same
    if (!pool_) return arrays;
    const std::int64_t reach = std::int64_t{dilation_} * (product_.taps - 1) + 1;
    arrays.push_back({product_.outputs, [reach, this](std::int64_t in, std::int64_t) {
                        const std::int64_t room = in + 2 * padding_ - reach;
                        return in == 0 || room < 0 ? std::int64_t{0} : room / stride_ + 1;
                      }});
    return arrays;
  }
  cudaError_t run(const StepCall& call) const override {
    const Argument& convolved = pool_ ? call.hidden[2] : call.output;
    RowProduct args;
    args.input = call.inputs[0].in();
    args.input_pitch = product_.columns;
    args.product = product_.at(constants_);
    args.stride = stride_;
    args.dilation = dilation_;
    args.padding = padding_;
    args.slope = pool_ || normed_ ? 1.0F : slope_;
    args.output = convolved.out();
    args.output_pitch = product_.outputs;
    DIARIST_LAUNCH(launch_row_product(args, call.items, convolved.longest, call.stream));
    if (pool_) {
      PoolArgs pool;
      pool.input = convolved.in();
      pool.output = call.output.out();
      pool.columns = product_.outputs;
      pool.slope = normed_ ? 1.0F : slope_;
      DIARIST_LAUNCH(launch_pool(pool, call.items, call.output.longest, call.stream));
    }
    if (!normed_) return cudaSuccess;
    return norm_.run(constants_, call, call.output, call.hidden, slope_);
  }
  std::string kernel() const override {
    return normed_ ? "row_product, moments, normalize" : "row_product";
  }
  std::string reason() const override { return "taps one after another, no copy of the rows"; }

 private:
  int stride_, dilation_, padding_;
  bool pool_, normed_;
  float slope_;
  ColumnNorm norm_;
  ProductConstants product_;
  Constants constants_;
};

class DenseStep final : public Step {
 public:
  DenseStep(const model::Dense& block, const NodeShapes& shapes)
      : slope_(slope_of(block.activation)) {
    product_.add(constants_, block.weight.values(), dim(block.weight, 0), dim(block.weight, 1), 1,
                 block.bias.values(), block.pre_scale.values(), block.pre_offset.values());
    constants_.upload(shapes.device.index);
  }
  cudaError_t run(const StepCall& call) const override {
    RowProduct args;
    args.input = call.inputs[0].in();
    args.input_pitch = product_.columns;
    args.product = product_.at(constants_);
    args.slope = slope_;
    args.output = call.output.out();
    args.output_pitch = product_.outputs;
    return launch_row_product(args, call.items, call.output.longest, call.stream);
  }
  std::string kernel() const override { return "row_product"; }
  std::string reason() const override { return "FP32 tiles in shared memory"; }

 private:
  float slope_;
  ProductConstants product_;
  Constants constants_;
};

class LogSoftmaxStep final : public Step {
 public:
  explicit LogSoftmaxStep(const NodeShapes& shapes) : columns_(dim(shapes.output, 1)) {}
  cudaError_t run(const StepCall& call) const override {
    return launch_log_softmax(call.inputs[0].in(), call.output.out(), columns_, call.items,
                              call.output.longest, call.stream);
  }
  std::string kernel() const override { return "log_softmax"; }
  std::string reason() const override { return "a thread per row"; }

 private:
  int columns_;
};

class DecisionStep final : public Step {
 public:
  explicit DecisionStep(const NodeShapes& shapes) : columns_(dim(shapes.inputs[0], 1)) {}
  cudaError_t run(const StepCall& call) const override {
    return launch_decision(call.inputs[0].in(), call.output.as<std::uint8_t>(), columns_,
                           call.items, call.output.longest, call.stream);
  }
  std::string kernel() const override { return "decide"; }
  std::string reason() const override { return "a thread per row"; }

 private:
  int columns_;
};

class MasksStep final : public Step {
 public:
  cudaError_t run(const StepCall& call) const override {
    return launch_masks(call.inputs[0].as<const std::uint8_t>(), call.output.out(), call.items,
                        call.stream);
  }
  std::string kernel() const override { return "make_masks"; }
  std::string reason() const override { return "a CTA counts the clean frames of an item"; }
};

class GatherStep final : public Step {
 public:
  explicit GatherStep(const NodeShapes& shapes) : columns_(dim(shapes.output, 1)) {}
  cudaError_t run(const StepCall& call) const override {
    GatherArgs args;
    args.shared = static_cast<const float*>(call.inputs[0].base);
    args.rows = call.inputs[0].rows;
    args.columns = columns_;
    args.indices = call.inputs[1].as<const std::int32_t>();
    args.output = call.output.out();
    args.fault = call.fault;
    args.first_item = call.first_item;
    return launch_gather_rows(args, call.items, call.output.longest, call.stream);
  }
  std::string kernel() const override { return "gather_rows"; }
  std::string reason() const override { return "indices are checked where they lie"; }

 private:
  int columns_;
};

}  // namespace

StepPtr step_of(const model::Conv1d& block, const NodeShapes& shapes) {
  return std::make_unique<Conv1dStep>(block, shapes);
}
StepPtr step_of(const model::Dense& block, const NodeShapes& shapes) {
  return std::make_unique<DenseStep>(block, shapes);
}
StepPtr step_of(const model::LogSoftmax&, const NodeShapes& shapes) {
  return std::make_unique<LogSoftmaxStep>(shapes);
}
StepPtr step_of(const model::PowersetDecision&, const NodeShapes& shapes) {
  return std::make_unique<DecisionStep>(shapes);
}
StepPtr step_of(const model::EmbeddingMasks&, const NodeShapes&) {
  return std::make_unique<MasksStep>();
}
StepPtr step_of(const model::GatherRows&, const NodeShapes& shapes) {
  return std::make_unique<GatherStep>(shapes);
}

}  // namespace diarist::backend::cuda::blocks
