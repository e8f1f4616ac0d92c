#include "backend/cuda/embedding_model.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "backend/cuda/check.hpp"
#include "backend/cuda/device_facts.hpp"
#include "backend/cuda/kernels/conv.hpp"
#include "backend/cuda/kernels/conv_ffma.hpp"
#include "backend/cuda/kernels/hopper/conv_tile.hpp"
#include "backend/cuda/kernels/hopper/pack.hpp"
#include "backend/cuda/kernels/stem_mma.hpp"
#include "backend/cuda/library/library_weights.hpp"

namespace diarist::backend::cuda {
namespace {

using model::Conv2d;
using model::MaskedStatsHead;
using model::Stem;

bool exceeds_half(const base::TensorF& weight) {
  return std::any_of(weight.values().begin(), weight.values().end(),
                     [](float w) { return !(std::fabs(w) <= 65504.0F); });
}

float scale_of(const base::TensorF& weight) {
  return conv_weight_scale(weight.data(), weight.values().size());
}

// [9][32], as the stem in FP32 reads them.
std::vector<float> pack_stem_floats(const Stem& stem) {
  const std::size_t channels = static_cast<std::size_t>(stem.weight.dim(0));
  std::vector<float> packed(9 * channels);
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t tap = 0; tap < 9; ++tap)
      packed[tap * channels + c] = stem.weight.values()[c * 9 + tap];
  return packed;
}

ConvLayer conv_layer(const model::Graph& graph, const model::Node& node) {
  ConvLayer layer;
  layer.name = node.name;
  layer.input = node.inputs[0];
  layer.residual = node.inputs.size() > 1 ? node.inputs[1] : -1;
  layer.output = node.output;
  layer.shape.residual = layer.residual >= 0;
  const base::Shape& in = graph.values[static_cast<std::size_t>(layer.input)].shape;
  if (const Stem* stem = std::get_if<Stem>(&node.block)) {
    layer.shape.cin = 1;
    layer.shape.cout = static_cast<int>(stem->weight.dim(0));
    layer.shape.time = static_cast<int>(in[0]);
    layer.shape.frequency = static_cast<int>(in[1]);
    layer.weights_exceed_half = exceeds_half(stem->weight);
    return layer;
  }
  const Conv2d& conv = std::get<Conv2d>(node.block);
  layer.shape.cout = static_cast<int>(conv.weight.dim(0));
  layer.shape.cin = static_cast<int>(conv.weight.dim(1));
  layer.shape.taps = static_cast<int>(conv.weight.dim(2) * conv.weight.dim(3));
  layer.shape.stride_f = conv.stride_frequency;
  layer.shape.stride_t = conv.stride_time;
  layer.shape.frequency = static_cast<int>(in[1]);
  layer.shape.time = static_cast<int>(in[2]);
  layer.relu = conv.relu;
  layer.weights_exceed_half = exceeds_half(conv.weight);
  return layer;
}

bool is_convolution(const model::Node& node) {
  return std::holds_alternative<Stem>(node.block) || std::holds_alternative<Conv2d>(node.block);
}

}  // namespace

bool is_embedding(const model::Graph& graph) {
  constexpr std::int64_t kTime = 125;
  bool convolutions = false;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const model::Node& node = graph.nodes[i];
    const bool pooled = std::holds_alternative<MaskedStatsHead>(node.block);
    if (std::holds_alternative<Stem>(node.block) != (i == 0)) return false;
    if (!is_convolution(node) && !pooled) return false;
    if (pooled && graph.values[static_cast<std::size_t>(node.inputs[0])].shape[2] != kTime)
      return false;
    convolutions = convolutions || std::holds_alternative<Conv2d>(node.block);
  }
  return convolutions && graph.inputs.size() == 2;
}

std::vector<ConvLayer> conv_layers(const model::Graph& graph) {
  std::vector<ConvLayer> layers;
  for (const model::Node& node : graph.nodes)
    if (is_convolution(node)) layers.push_back(conv_layer(graph, node));
  return layers;
}

EmbeddingModel::EmbeddingModel(int device, const model::Graph& graph, const ModelOptions& options)
    : device_(device),
      facts_(device_facts(device)),
      mode_(options.choice.mode),
      values_(graph.values),
      inputs_(graph.inputs.begin(), graph.inputs.end()),
      outputs_(graph.outputs.begin(), graph.outputs.end()),
      options_(options) {
  layers_ = conv_layers(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const model::Node& node = graph.nodes[i];
    if (const Stem* stem = std::get_if<Stem>(&node.block)) remove_mean_ = stem->remove_mean;
    if (is_convolution(node))
      nodes_.push_back(static_cast<int>(i));
    else if (std::holds_alternative<MaskedStatsHead>(node.block))
      add_head(graph, node);
    else
      base::fail(ErrorCode::kUnsupported,
                 "{}: the CUDA backend has no kernel for {} yet; use --device cpu", node.name,
                 model::block_name(node.block));
  }
  choice_ = choice_for(options_.choice.items);
  format_ = choice_.maps[static_cast<std::size_t>(layers_.back().output)];
  const DeviceGuard guard(device);
  taps_hidden_ = std::any_of(outputs_.begin(), outputs_.end(), [&](int v) { return fused(v); });
  for (int i = 0; i < static_cast<int>(layers_.size()); ++i) {
    weights_.push_back(pack(graph, i));
    const bool tapped = taps_hidden_ && fused(layers_[static_cast<std::size_t>(i)].output);
    tap_weights_.push_back(tapped ? pack_portable(graph, i) : LayerWeights{});
  }
}

// One format for all maps: a layer that only FP32 can serve takes the whole trunk with it.
TrunkChoice EmbeddingModel::choice_for(int items) const {
  ChoiceOptions options = options_.choice;
  options.items = items;
  options.tuned = options_.tuned;
  TrunkChoice choice = choose_trunk(facts_, layers_, options);
  const auto found =
      std::find_if(choice.layers.begin(), choice.layers.end(), [](const LayerChoice& layer) {
        return layer.kernel == KernelId::kConvFfma || layer.kernel == KernelId::kStemFfma;
      });
  const bool floats =
      choice.maps[static_cast<std::size_t>(layers_.back().output)] == MapFormat::kFloat;
  if (found == choice.layers.end() || floats) return choice;
  const std::string cause =
      layers_[static_cast<std::size_t>(found - choice.layers.begin())].name + ": " + found->reason;
  options.family = Family::kFp32;
  choice = choose_trunk(facts_, layers_, options);
  for (LayerChoice& layer : choice.layers) layer.reason = "FP32 since " + cause;
  return choice;
}

void EmbeddingModel::add_head(const model::Graph& graph, const model::Node& node) {
  const MaskedStatsHead& block = std::get<MaskedStatsHead>(node.block);
  const base::Shape& map = graph.values[static_cast<std::size_t>(node.inputs[0])].shape;
  HeadWeights head;
  head.map = node.inputs[0];
  head.masks = node.inputs[1];
  head.output = node.output;
  head.speakers = block.speakers;
  head.statistics = static_cast<int>(2 * map[0] * map[1]);
  head.dim = block.weight.empty() ? head.statistics : static_cast<int>(block.weight.dim(0));
  if (!block.weight.empty()) {
    head.weights = to_device<float>(device_, block.weight.values(), "head weights");
    head.bias = to_device<float>(device_, block.bias.values(), "head bias");
  }
  heads_.push_back(std::move(head));
}

LayerWeights EmbeddingModel::pack(const model::Graph& graph, int index) const {
  const auto at = static_cast<std::size_t>(index);
  const ConvLayer& layer = layers_[at];
  const LayerChoice& choice = choice_.layers[at];
  const model::Node& node = graph.nodes[static_cast<std::size_t>(nodes_[at])];
  LayerWeights packed;
  const auto upload = [&](const hopper::Halves& halves) {
    packed.weights = to_device<std::uint16_t>(device_, halves, "convolution weights");
  };
  if (const Stem* stem = std::get_if<Stem>(&node.block)) {
    packed.bias = to_device<float>(device_, stem->bias.values(), "stem bias");
    if (choice.kernel == KernelId::kStemFfma) {
      packed.weights = to_device<float>(device_, pack_stem_floats(*stem), "stem weights");
      return packed;
    }
    const float scale = scale_of(stem->weight);
    packed.unscale = 1 / scale;
    upload(pack_stem_mma(stem->weight.data(), split(), scale));
    return packed;
  }
  if (choice.kernel == KernelId::kConvMma) return pack_portable(graph, index);
  const Conv2d& conv = std::get<Conv2d>(node.block);
  const float scale = scale_of(conv.weight);
  const int cout = layer.shape.cout, cin = layer.shape.cin;
  packed.bias = to_device<float>(device_, conv.bias.values(), "convolution bias");
  packed.unscale = 1 / scale;
  switch (choice.kernel) {
    case KernelId::kBlockWalk:
    case KernelId::kConvWalk:
      upload(hopper::pack_walk(conv.weight.data(), cout, split(), scale));
      break;
    case KernelId::kConvTile:
      upload(hopper::pack_tile(conv.weight.data(), cout, cin, split(), scale,
                               hopper::tile_is_flat(layer.shape.out_frequency())));
      break;
    case KernelId::kConvStride:
      upload(hopper::pack_tile(conv.weight.data(), cout, cin, split(), scale, true));
      break;
    case KernelId::kConvDown: {
      if (choice.launched_by != index) break;  // packed with the convolution beside it
      const auto beside = static_cast<std::size_t>(choice_.beside(index));
      const auto& shortcut =
          std::get<Conv2d>(graph.nodes[static_cast<std::size_t>(nodes_[beside])].block);
      upload(hopper::pack_down(conv.weight.data(), shortcut.weight.data(), cout, cin, scale,
                               scale_of(shortcut.weight)));
      break;
    }
    case KernelId::kLibrary: {
      const std::vector<float> ordered =
          pack_library_weights(conv.weight.values(), cout, cin, layer.shape.taps);
      packed.unscale = 1;
      if (mode_ == Mode::kFast) {
        upload(to_library_halves(ordered, layer.name));
        packed.bias = to_device<std::uint16_t>(
            device_, to_library_halves(conv.bias.values(), layer.name), "convolution bias");
      } else {
        packed.weights = to_device<float>(device_, ordered, "convolution weights");
      }
      break;
    }
    case KernelId::kConvFfma:
      packed.unscale = 1;
      packed.weights = to_device<float>(
          device_, pack_ffma_weights(conv.weight.data(), cout, cin, layer.shape.taps),
          "convolution weights");
      break;
    default:
      base::fail(ErrorCode::kUnsupported, "{}: {} is not in this build; take another family",
                 layer.name, choice.name);
  }
  return packed;
}

LayerWeights EmbeddingModel::pack_portable(const model::Graph& graph, int index) const {
  const auto at = static_cast<std::size_t>(index);
  const ConvLayer& layer = layers_[at];
  const model::Node& node = graph.nodes[static_cast<std::size_t>(nodes_[at])];
  LayerWeights packed;
  const Conv2d& conv = std::get<Conv2d>(node.block);
  const float scale = scale_of(conv.weight);
  packed.bias = to_device<float>(device_, conv.bias.values(), "convolution bias");
  packed.unscale = 1 / scale;
  packed.weights =
      to_device<std::uint16_t>(device_,
                               pack_conv_weights(conv.weight.data(), layer.shape.cout,
                                                 layer.shape.cin, layer.shape.taps, split(), scale),
                               "convolution weights");
  return packed;
}

bool EmbeddingModel::fused(int value) const {
  const auto at = static_cast<std::size_t>(value);
  if (at >= choice_.maps.size() || choice_.maps[at] != MapFormat::kNone) return false;
  return std::any_of(layers_.begin(), layers_.end(),
                     [&](const ConvLayer& layer) { return layer.output == value; });
}

bool EmbeddingModel::uses_library() const noexcept {
  return std::any_of(choice_.layers.begin(), choice_.layers.end(),
                     [](const LayerChoice& layer) { return layer.kernel == KernelId::kLibrary; });
}

}  // namespace diarist::backend::cuda
