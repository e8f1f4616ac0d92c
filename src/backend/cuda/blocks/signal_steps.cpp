// Steps on samples.

#include "backend/cuda/blocks/front_end.hpp"
#include "backend/cuda/blocks/statistics.hpp"
#include "backend/cuda/blocks/steps.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

class LogMelStep final : public Step {
 public:
  LogMelStep(const model::LogMel& block, const NodeShapes& shapes)
      : scale_(static_cast<double>(block.scale)) {
    const LogMelTables tables =
        make_log_mel_tables(block.window == model::LogMel::Window::kHamming);
    tables_ = constants_.add_bytes(&tables, sizeof(tables));
    constants_.upload(shapes.device.index);
  }
  cudaError_t run(const StepCall& call) const override {
    LogMelArgs args;
    args.samples = call.inputs[0].in();
    args.rows = call.output.out();
    args.tables = reinterpret_cast<const LogMelTables*>(constants_.at(tables_));
    args.scale = scale_;
    return launch_log_mel(args, call.items, call.output.longest, call.stream);
  }
  std::string kernel() const override { return "log_mel"; }
  std::string reason() const override { return "a warp per frame, in double"; }

 private:
  double scale_;
  std::size_t tables_ = 0;
  Constants constants_;
};

/// A dense layer on overlapping rows.
class SincConvolutionStep final : public Step {
 public:
  SincConvolutionStep(const model::SincConvolution& block, const NodeShapes& shapes)
      : stride_(block.stride) {
    product_.add(constants_, block.filters.values(), dim(block.filters, 0), dim(block.filters, 1),
                 1, {});
    constants_.upload(shapes.device.index);
  }
  cudaError_t run(const StepCall& call) const override {
    RowProduct args;
    args.input = call.inputs[0].in();
    args.input_pitch = stride_;
    args.overlapping = true;
    args.product = product_.at(constants_);
    args.output = call.output.out();
    args.output_pitch = product_.outputs;
    return launch_row_product(args, call.items, call.output.longest, call.stream);
  }
  std::string kernel() const override { return "row_product"; }
  std::string reason() const override { return "samples as overlapping rows"; }

 private:
  int stride_;
  ProductConstants product_;
  Constants constants_;
};

class SincPoolStep final : public Step {
 public:
  SincPoolStep(const model::SincPool& block, const NodeShapes& shapes)
      : filters_(dim(block.filters, 0)),
        weight_(block.waveform.weight.values()[0]),
        bias_(block.waveform.bias.values()[0]),
        norm_(filters_) {
    std::vector<double> sums(static_cast<std::size_t>(filters_), 0.0);
    const std::span<const float> taps = block.filters.values();
    const std::size_t size = taps.size() / sums.size();
    for (std::size_t i = 0; i < taps.size(); ++i) sums[i / size] += static_cast<double>(taps[i]);
    tap_sums_ = constants_.add_bytes(sums.data(), sums.size() * sizeof(double));
    norm_.add(constants_, block.norm);
    constants_.upload(shapes.device.index);
  }
  std::vector<Hidden> hidden() const override {
    std::vector<Hidden> arrays;
    arrays.push_back(
        {slice_floats(1), [](std::int64_t in, std::int64_t) { return slice_count(in, 1); }});
    arrays.push_back({4 * filters_, [](std::int64_t, std::int64_t) { return 1; }});
    const int columns = filters_;
    arrays.push_back({slice_floats(columns), [columns](std::int64_t, std::int64_t out) {
                        return slice_count(out, columns);
                      }});
    arrays.push_back({4 * filters_, [](std::int64_t, std::int64_t) { return 1; }});
    return arrays;
  }
  cudaError_t run(const StepCall& call) const override {
    const Argument& samples = call.inputs[0];
    DIARIST_LAUNCH(launch_moments({samples.in(), call.hidden[0].out(), 1}, call.items,
                                  samples.longest, call.stream));
    WaveArgs wave;
    wave.samples = samples.in();
    wave.slices = call.hidden[0].in();
    wave.table = call.hidden[1].out();
    wave.tap_sums = reinterpret_cast<const double*>(constants_.at(tap_sums_));
    wave.filters = filters_;
    wave.weight = weight_;
    wave.bias = bias_;
    DIARIST_LAUNCH(launch_wave(wave, call.items, call.stream));
    PoolArgs pool;
    pool.input = call.inputs[1].in();
    pool.wave = call.hidden[1].in();
    pool.output = call.output.out();
    pool.columns = filters_;
    DIARIST_LAUNCH(launch_pool(pool, call.items, call.output.longest, call.stream));
    return norm_.run(constants_, call, call.output, call.hidden.subspan(2), 0.01F);
  }
  std::string kernel() const override { return "moments, pool, normalize"; }
  std::string reason() const override { return "statistics in slices of fixed length"; }

 private:
  int filters_;
  float weight_, bias_;
  ColumnNorm norm_;
  std::size_t tap_sums_ = 0;
  Constants constants_;
};

}  // namespace

StepPtr step_of(const model::LogMel& block, const NodeShapes& shapes) {
  return std::make_unique<LogMelStep>(block, shapes);
}
StepPtr step_of(const model::SincConvolution& block, const NodeShapes& shapes) {
  return std::make_unique<SincConvolutionStep>(block, shapes);
}
StepPtr step_of(const model::SincPool& block, const NodeShapes& shapes) {
  return std::make_unique<SincPoolStep>(block, shapes);
}

}  // namespace diarist::backend::cuda::blocks
