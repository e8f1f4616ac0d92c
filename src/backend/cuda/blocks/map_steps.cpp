// Steps on maps, and the statistics behind them.

#include "backend/cuda/blocks/map_layers.hpp"
#include "backend/cuda/blocks/pooling.hpp"
#include "backend/cuda/blocks/statistics.hpp"
#include "backend/cuda/blocks/steps.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

std::int64_t one_row(std::int64_t /*in*/, std::int64_t /*out*/) { return 1; }

class StemStep final : public Step {
 public:
  StemStep(const model::Stem& block, const NodeShapes& shapes)
      : remove_mean_(block.remove_mean),
        channels_(dim(block.weight, 0)),
        bands_(dim(shapes.inputs[0], 1)),
        norm_(bands_) {
    weight_ = constants_.add(block.weight.values());
    bias_ = constants_.add(block.bias.values());
    constants_.upload(shapes.device.index);
  }
  std::vector<Hidden> hidden() const override {
    std::vector<Hidden> arrays;
    if (remove_mean_) norm_.hide(arrays);
    return arrays;
  }
  cudaError_t run(const StepCall& call) const override {
    StemArgs args;
    args.rows = call.inputs[0].in();
    args.map = call.output.out();
    args.weight = constants_.at(weight_);
    args.bias = constants_.at(bias_);
    args.channels = channels_;
    args.bands = bands_;
    if (remove_mean_) {
      DIARIST_LAUNCH(norm_.centre(call, call.inputs[0], call.hidden));
      args.means = call.hidden[1].in();
    }
    return launch_stem(args, call.items, call.output.longest, call.stream);
  }
  std::string kernel() const override { return remove_mean_ ? "moments, stem" : "stem"; }
  std::string reason() const override { return "a thread makes all channels of a pixel"; }

 private:
  bool remove_mean_;
  int channels_, bands_;
  ColumnNorm norm_;
  std::size_t weight_ = 0, bias_ = 0;
  Constants constants_;
};

class Conv2dStep final : public Step {
 public:
  Conv2dStep(const model::Conv2d& block, const NodeShapes& shapes)
      : in_frequency_(dim(shapes.inputs[0], 1)),
        out_frequency_(dim(shapes.output, 1)),
        stride_frequency_(block.stride_frequency),
        stride_time_(block.stride_time),
        residual_(shapes.inputs.size() > 1),
        relu_(block.relu) {
    const int taps = dim(block.weight, 2) * dim(block.weight, 3);
    product_.add(constants_, block.weight.values(), dim(block.weight, 0), dim(block.weight, 1),
                 taps, block.bias.values());
    constants_.upload(shapes.device.index);
  }
  cudaError_t run(const StepCall& call) const override {
    MapProduct args;
    args.input = call.inputs[0].in();
    args.product = product_.at(constants_);
    args.in_frequency = in_frequency_;
    args.out_frequency = out_frequency_;
    args.stride_frequency = stride_frequency_;
    args.stride_time = stride_time_;
    if (residual_) args.residual = call.inputs[1].in();
    args.slope = relu_ ? 0.0F : 1.0F;
    args.output = call.output.out();
    return launch_map_product(args, call.items, call.output.longest, call.stream);
  }
  std::string kernel() const override { return "map_product"; }
  std::string reason() const override { return "FP32 tiles along time, taps one after another"; }

 private:
  int in_frequency_, out_frequency_, stride_frequency_, stride_time_;
  bool residual_, relu_;
  ProductConstants product_;
  Constants constants_;
};

class MapToRowsStep final : public Step {
 public:
  explicit MapToRowsStep(const NodeShapes& shapes) : columns_(dim(shapes.output, 1)) {}
  cudaError_t run(const StepCall& call) const override {
    return launch_map_to_rows(call.inputs[0].in(), call.output.out(), columns_, call.items,
                              call.output.longest, call.stream);
  }
  std::string kernel() const override { return "map_to_rows"; }
  std::string reason() const override { return "pieces turned in shared memory"; }

 private:
  int columns_;
};

/// Embedding of statistics, for both kinds of statistics.
class Head {
 public:
  void add(Constants& constants, const base::TensorF& weight, const base::TensorF& bias) {
    outputs_ = dim(weight, 0);
    inputs_ = dim(weight, 1);
    weight_ = constants.add(weight.values());
    bias_ = constants.add(bias.values());
  }
  cudaError_t run(const Constants& constants, const StepCall& call, const Argument& statistics,
                  int rows) const {
    HeadArgs args;
    args.statistics = statistics.in();
    args.embeddings = call.output.out();
    args.weight = constants.at(weight_);
    args.bias = constants.at(bias_);
    args.rows = rows;
    args.inputs = inputs_;
    args.outputs = outputs_;
    return launch_head(args, call.items, call.stream);
  }

 private:
  std::size_t weight_ = 0, bias_ = 0;
  int inputs_ = 0, outputs_ = 0;
};

class MaskedStatsStep final : public Step {
 public:
  MaskedStatsStep(const model::MaskedStatsHead& block, const NodeShapes& shapes)
      : rows_(dim(shapes.inputs[0], 0) * dim(shapes.inputs[0], 1)),
        speakers_(block.speakers),
        mask_frames_(dim(shapes.inputs[1], 1)),
        bytes_(shapes.inputs[1].type == model::ElementType::kU8),
        has_head_(!block.weight.empty()) {
    if (has_head_) head_.add(constants_, block.weight, block.bias);
    if (has_head_) constants_.upload(shapes.device.index);
  }
  std::vector<Hidden> hidden() const override {
    std::vector<Hidden> arrays{{2 * speakers_, one_row}};
    if (has_head_) arrays.push_back({std::int64_t{2} * speakers_ * rows_, one_row});
    return arrays;
  }
  cudaError_t run(const StepCall& call) const override {
    MaskedStatisticsArgs args;
    args.map = call.inputs[0].in();
    if (bytes_)
      args.bytes = call.inputs[1].as<const std::uint8_t>();
    else
      args.masks = call.inputs[1].in();
    args.totals = call.hidden[0].out();
    args.statistics = has_head_ ? call.hidden[1].out() : call.output.out();
    args.rows = rows_;
    args.speakers = speakers_;
    args.mask_frames = mask_frames_;
    DIARIST_LAUNCH(launch_masked_statistics(args, call.items, call.stream));
    return has_head_ ? head_.run(constants_, call, call.hidden[1], speakers_) : cudaSuccess;
  }
  std::string kernel() const override {
    return has_head_ ? "masked_statistics, head" : "masked_statistics";
  }
  std::string reason() const override { return "a warp per row of the map"; }

 private:
  int rows_, speakers_, mask_frames_;
  bool bytes_, has_head_;
  Head head_;
  Constants constants_;
};

class StatsStep final : public Step {
 public:
  StatsStep(const model::StatsHead& block, const NodeShapes& shapes)
      : columns_(dim(shapes.inputs[0], 1)) {
    head_.add(constants_, block.weight, block.bias);
    constants_.upload(shapes.device.index);
  }
  std::vector<Hidden> hidden() const override {
    const int columns = columns_;
    return {{slice_floats(columns),
             [columns](std::int64_t in, std::int64_t) { return slice_count(in, columns); }},
            {2 * columns_, one_row}};
  }
  cudaError_t run(const StepCall& call) const override {
    const Argument& rows = call.inputs[0];
    DIARIST_LAUNCH(launch_moments({rows.in(), call.hidden[0].out(), columns_}, call.items,
                                  rows.longest, call.stream));
    FinishArgs finish;
    finish.rows = rows.in();
    finish.slices = call.hidden[0].in();
    finish.columns = columns_;
    finish.statistics = call.hidden[1].out();
    DIARIST_LAUNCH(launch_finish(finish, call.items, call.stream));
    return head_.run(constants_, call, call.hidden[1], 1);
  }
  std::string kernel() const override { return "moments, head"; }
  std::string reason() const override { return "statistics in slices of fixed length"; }

 private:
  int columns_;
  Head head_;
  Constants constants_;
};

}  // namespace

StepPtr step_of(const model::Stem& block, const NodeShapes& shapes) {
  return std::make_unique<StemStep>(block, shapes);
}
StepPtr step_of(const model::Conv2d& block, const NodeShapes& shapes) {
  return std::make_unique<Conv2dStep>(block, shapes);
}
StepPtr step_of(const model::MapToRows&, const NodeShapes& shapes) {
  return std::make_unique<MapToRowsStep>(shapes);
}
StepPtr step_of(const model::MaskedStatsHead& block, const NodeShapes& shapes) {
  return std::make_unique<MaskedStatsStep>(block, shapes);
}
StepPtr step_of(const model::StatsHead& block, const NodeShapes& shapes) {
  return std::make_unique<StatsStep>(block, shapes);
}

}  // namespace diarist::backend::cuda::blocks
