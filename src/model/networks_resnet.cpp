// Log-mel front ends and WeSpeaker's ResNet34 (models.md (a) and (c)).

#include "model/graph_builder.hpp"
#include "model/map_blocks.hpp"
#include "model/networks.hpp"

namespace diarist::model {
namespace {

constexpr int kFrames = 998;
constexpr int kSpeakers = 3;
constexpr std::int64_t kMaskFrames = 589;

struct Variant {
  const Weights* weights;
  int frames;
  int speakers;
  bool remove_mean;  // false: the features come centred
  bool statistics;   // also the pooled statistics, as "pooled"
};

Graph resnet34(const Variant& variant) {
  const TensorSource source(*variant.weights, "wespeaker-resnet34 weights");
  GraphBuilder graph("resnet34");
  const ValueId rows =
      graph.input(variant.remove_mean ? "log_mel" : "features", {variant.frames, 80});
  const ValueId masks = graph.input("masks", {variant.speakers, kMaskFrames});

  Stem stem = stem_of(source, resnet34_stem());
  stem.remove_mean = variant.remove_mean;
  ValueId x = graph.add("resnet.conv1", std::move(stem), {rows}, "stem");
  for (const BasicBlock& block : resnet34_blocks()) {
    x = add_basic_block(graph, source, block, Strides::kBoth, "", x);
  }
  if (variant.statistics) {
    MaskedStatsHead pooled;
    pooled.speakers = variant.speakers;
    graph.add("pooling", std::move(pooled), {x, masks}, "pooled");
  }
  constexpr std::int64_t kStatistics = 2 * kResnet34Channels * kResnet34Bands;
  MaskedStatsHead head;
  head.weight = source.get("resnet.seg_1.weight", {kResnet34Size, kStatistics});
  head.bias = source.get("resnet.seg_1.bias", {kResnet34Size});
  head.speakers = variant.speakers;
  return graph.finish({graph.add("resnet.seg_1", std::move(head), {x, masks}, "embeddings")});
}

}  // namespace

Graph wespeaker_features() {
  GraphBuilder graph("wespeaker_features");
  const ValueId samples = graph.input("samples", {-1});
  return graph.finish(
      {graph.add("log_mel", LogMel{LogMel::Window::kHamming, 32768.0F}, {samples}, "log_mel")});
}

Graph campplus_features() {
  GraphBuilder graph("campplus_features");
  const ValueId samples = graph.input("samples", {-1});
  return graph.finish(
      {graph.add("log_mel", LogMel{LogMel::Window::kPovey, 1.0F}, {samples}, "log_mel")});
}

Graph resnet34_network(const Weights& weights, int frames, int speakers) {
  return resnet34({&weights, frames, speakers, true, false});
}

Graph resnet34_on_features(const Weights& weights) {
  return resnet34({&weights, kFrames, kSpeakers, false, false});
}

Graph resnet34_taps(const Weights& weights) {
  Graph graph = resnet34({&weights, kFrames, kSpeakers, false, true});
  std::vector<std::string> names;
  for (const Node& node : graph.nodes)
    names.push_back(graph.values[static_cast<std::size_t>(node.output)].name);
  return graph.with_outputs(names);
}

}  // namespace diarist::model
