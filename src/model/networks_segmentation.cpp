// PyanNet (models.md (b)) and the front end that is computed once per recording.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/graph_builder.hpp"
#include "model/networks.hpp"
#include "model/tensor_source.hpp"

namespace diarist::model {
namespace {

constexpr std::int64_t kSamples = 160000;
constexpr std::int64_t kRawRows = 15975;
constexpr std::int64_t kFilters = 80;
constexpr std::int64_t kTaps = 251;
constexpr std::int64_t kChannels = 60;  // of the second and third convolution
constexpr std::int64_t kHidden = 128;
constexpr std::int64_t kClasses = 7;
constexpr const char* kReadyFilters = "sincnet.conv1d.0.filters";

TensorSource source_of(const Weights& weights) { return {weights, "pyannet weights"}; }

InstanceNorm norm_of(const TensorSource& source, const std::string& name, std::int64_t channels) {
  return {source.get(name + ".weight", {channels}), source.get(name + ".bias", {channels})};
}

/// Convolution, max pool, norm and leaky ReLU of one later SincNet stage.
Conv1d stage_of(const TensorSource& source, int stage, std::int64_t in) {
  const std::string number = std::to_string(stage);
  Conv1d block;
  block.weight = source.get("sincnet.conv1d." + number + ".weight", {kChannels, in, 5});
  block.bias = source.get("sincnet.conv1d." + number + ".bias", {kChannels});
  block.pool3 = true;
  block.norm = norm_of(source, "sincnet.norm1d." + number, kChannels);
  block.activation = Activation::kLeakyRelu;
  return block;
}

/// The two biases of a gate only ever act as their sum.
TensorF bias_sum(const TensorF& a, const TensorF& b) {
  std::vector<float> sum(a.values().begin(), a.values().end());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = static_cast<float>(static_cast<double>(sum[i]) + b.values()[i]);
  }
  return {a.shape(), std::move(sum)};
}

BiLstm lstm_of(const TensorSource& source, int layer) {
  const std::int64_t in = layer == 0 ? kChannels : 2 * kHidden;
  BiLstm block;
  for (int direction = 0; direction < 2; ++direction) {
    const std::string end = "_l" + std::to_string(layer) + (direction == 0 ? "" : "_reverse");
    block.input_weight[direction] = source.get("lstm.weight_ih" + end, {4 * kHidden, in});
    block.recurrent_weight[direction] = source.get("lstm.weight_hh" + end, {4 * kHidden, kHidden});
    block.bias[direction] = bias_sum(source.get("lstm.bias_ih" + end, {4 * kHidden}),
                                     source.get("lstm.bias_hh" + end, {4 * kHidden}));
  }
  return block;
}

Dense dense_of(const TensorSource& source, const std::string& name, std::int64_t in,
               std::int64_t out, Activation activation) {
  Dense block;
  block.weight = source.get(name + ".weight", {out, in});
  block.bias = source.get(name + ".bias", {out});
  block.activation = activation;
  return block;
}

/// Cut-off frequencies, stored as [40, 1] or [40].
std::span<const float> cutoffs(const TensorSource& source, const char* name) {
  const base::Shape column{kFilters / 2, 1};
  const std::string full = std::string("sincnet.conv1d.0.filterbank.") + name;
  const TensorF& tensor = source.any(full);
  if (tensor.shape() != base::Shape{kFilters / 2} && tensor.shape() != column) {
    source.refuse_shape(full, column);
  }
  return tensor.values();
}

}  // namespace

base::TensorF sinc_filters(const Weights& segmentation) {
  const TensorSource source = source_of(segmentation);
  if (source.has(kReadyFilters)) return source.get(kReadyFilters, {kFilters, kTaps});

  constexpr double kRate = 16000.0;
  constexpr double kPi = std::numbers::pi;
  constexpr std::int64_t kHalf = kTaps / 2;
  const std::span<const float> low_hz = cutoffs(source, "low_hz_");
  const std::span<const float> band_hz = cutoffs(source, "band_hz_");
  std::vector<float> filters(kFilters * kTaps);
  for (std::int64_t pair = 0; pair < kFilters / 2; ++pair) {
    const double low = 50.0 + std::abs(static_cast<double>(low_hz[pair]));
    const double high =
        std::clamp(low + 50.0 + std::abs(static_cast<double>(band_hz[pair])), 50.0, kRate / 2);
    const double band = high - low;
    float* even = filters.data() + pair * kTaps;
    float* odd = filters.data() + (pair + kFilters / 2) * kTaps;
    for (std::int64_t i = 0; i < kHalf; ++i) {
      const double n = 2 * kPi * static_cast<double>(i - kHalf) / kRate;
      const double window = 0.54 - 0.46 * std::cos(2 * kPi * static_cast<double>(i) / (kTaps - 1));
      const double gain = window / (n / 2) / (2 * band);
      const double even_tap = (std::sin(high * n) - std::sin(low * n)) * gain;
      const double odd_tap = (std::cos(low * n) - std::cos(high * n)) * gain;
      even[i] = even[kTaps - 1 - i] = static_cast<float>(even_tap);
      odd[i] = static_cast<float>(odd_tap);
      odd[kTaps - 1 - i] = static_cast<float>(-odd_tap);
    }
    even[kHalf] = 1.0F;
    odd[kHalf] = 0.0F;
  }
  return {{kFilters, kTaps}, std::move(filters)};
}

Graph sinc_front_end(const Weights& segmentation) {
  GraphBuilder graph("sinc_front_end");
  const ValueId samples = graph.input("samples", {-1});
  const ValueId raw = graph.add("sincnet.conv1d.0", SincConvolution{sinc_filters(segmentation), 10},
                                {samples}, "raw");
  return graph.finish({raw});
}

Graph segmentation_network(const Weights& weights) {
  const TensorSource source = source_of(weights);
  GraphBuilder graph("segmentation");
  const ValueId samples = graph.input("samples", {kSamples});
  const ValueId raw = graph.input("raw", {kRawRows, kFilters});

  SincPool pool;
  pool.filters = sinc_filters(weights);
  pool.waveform = norm_of(source, "sincnet.wav_norm1d", 1);
  pool.norm = norm_of(source, "sincnet.norm1d.0", kFilters);
  ValueId x = graph.add("sincnet.norm1d.0", std::move(pool), {samples, raw}, "sinc0");
  x = graph.add("sincnet.conv1d.1", stage_of(source, 1, kFilters), {x}, "sinc1");
  x = graph.add("sincnet.conv1d.2", stage_of(source, 2, kChannels), {x}, "sinc2");
  for (int layer = 0; layer < 4; ++layer) {
    const std::string number = std::to_string(layer);
    x = graph.add("lstm." + number, lstm_of(source, layer), {x}, "lstm" + number);
  }
  x = graph.add("linear.0",
                dense_of(source, "linear.0", 2 * kHidden, kHidden, Activation::kLeakyRelu), {x},
                "linear0");
  x = graph.add("linear.1", dense_of(source, "linear.1", kHidden, kHidden, Activation::kLeakyRelu),
                {x}, "linear1");
  const ValueId logits =
      graph.add("classifier", dense_of(source, "classifier", kHidden, kClasses, Activation::kNone),
                {x}, "logits");
  // The log-softmax keeps the order of the scores, so the decision doesn't wait for it.
  graph.add("log_softmax", LogSoftmax{}, {logits}, "log_probabilities");
  const ValueId classes = graph.add("decision", PowersetDecision{}, {logits}, "classes");
  const ValueId masks = graph.add("masks", EmbeddingMasks{}, {classes}, "masks");
  return graph.finish({classes, masks});
}

}  // namespace diarist::model
