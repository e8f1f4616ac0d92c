#pragma once
// The speaker embedding's weights on one device at one precision.

#include <cstdint>
#include <string>
#include <vector>

#include "backend/cuda/choice/choice.hpp"
#include "backend/cuda/memory.hpp"
#include "model/graph.hpp"

namespace diarist::backend::cuda {

struct ModelOptions {
  ChoiceOptions choice;          // `items`: the largest batch; `tuned` is not read
  std::vector<TuneEntry> tuned;  // of a tune file
};

/// Weights of a convolution in its kernel's layout.
struct LayerWeights {
  DeviceMemory weights, bias;
  float unscale = 1;  // undoes the power of two that the packed weights carry
};

/// A masked pooling, with its head unless the statistics themselves are wanted.
struct HeadWeights {
  int map = -1, masks = -1, output = -1;  // values
  int speakers = 0, statistics = 0, dim = 0;
  DeviceMemory weights, bias;  // empty: statistics only
};

/// True for the trunk of WeSpeaker's ResNet34 with its head or taps: what EmbeddingModel is for.
/// Its pooling takes the 125 time steps that are left of a window.
bool is_embedding(const model::Graph& graph);

/// The convolutions of a graph, stem included, in the order in which they run.
std::vector<ConvLayer> conv_layers(const model::Graph& graph);

/// Layers, choices and packed weights; immutable, safe from many threads. Which kernel runs a layer
/// is settled here for all batch classes.
class EmbeddingModel {
 public:
  /// \throws Error kUnsupported naming the node that has no kernel, kOutOfMemory.
  EmbeddingModel(int device, const model::Graph& graph, const ModelOptions& options);

  int device() const noexcept { return device_; }
  const DeviceFacts& facts() const noexcept { return facts_; }
  /// How all maps of the trunk lie in memory.
  MapFormat format() const noexcept { return format_; }
  bool split() const noexcept { return format_ == MapFormat::kSplit; }
  /// Bytes of one number of a map.
  std::size_t number_bytes() const noexcept { return format_ == MapFormat::kHalf ? 2 : 4; }
  Mode mode() const noexcept { return mode_; }
  const std::vector<model::Value>& values() const noexcept { return values_; }
  const std::vector<ConvLayer>& layers() const noexcept { return layers_; }
  /// Choices for the largest batch.
  const TrunkChoice& choice() const noexcept { return choice_; }
  /// The same kernels with the variants that suit a number of items.
  TrunkChoice choice_for(int items) const;
  /// Weights of a layer as its chosen kernel reads them.
  const LayerWeights& weights(int layer) const { return weights_[static_cast<std::size_t>(layer)]; }
  bool uses_library() const noexcept;
  /// True for a map that stays inside a fused kernel.
  bool fused(int value) const;
  /// True when such a map is an output of the graph: then all of them are made once more, each by a
  /// kernel of its own.
  bool taps_hidden() const noexcept { return taps_hidden_; }
  /// Weights for that. Empty unless taps_hidden() and the layer's map is fused.
  const LayerWeights& tap_weights(int layer) const {
    return tap_weights_[static_cast<std::size_t>(layer)];
  }
  const std::vector<HeadWeights>& heads() const noexcept { return heads_; }
  const std::vector<int>& inputs() const noexcept { return inputs_; }
  const std::vector<int>& outputs() const noexcept { return outputs_; }
  bool remove_mean() const noexcept { return remove_mean_; }

 private:
  void add_head(const model::Graph& graph, const model::Node& node);
  LayerWeights pack(const model::Graph& graph, int layer) const;
  LayerWeights pack_portable(const model::Graph& graph, int layer) const;

  int device_;
  DeviceFacts facts_;
  Mode mode_;
  MapFormat format_ = MapFormat::kHalf;
  std::vector<model::Value> values_;
  std::vector<int> inputs_, outputs_;
  std::vector<ConvLayer> layers_;
  std::vector<int> nodes_;  // of the layers
  ModelOptions options_;
  TrunkChoice choice_;
  std::vector<LayerWeights> weights_, tap_weights_;
  std::vector<HeadWeights> heads_;
  bool remove_mean_ = true, taps_hidden_ = false;
};

}  // namespace diarist::backend::cuda
