// Log-mel front ends and WeSpeaker's ResNet34 (models.md (a) and (c)).

#include "model/graph_builder.hpp"
#include "model/map_blocks.hpp"
#include "model/networks.hpp"

namespace diarist::model {

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
  constexpr std::int64_t kMaskFrames = 589;
  const TensorSource source(weights, "wespeaker-resnet34 weights");
  GraphBuilder graph("resnet34");
  const ValueId log_mel = graph.input("log_mel", {frames, 80});
  const ValueId masks = graph.input("masks", {speakers, kMaskFrames});

  ValueId x = graph.add("resnet.conv1", stem_of(source, resnet34_stem()), {log_mel}, "stem");
  for (const BasicBlock& block : resnet34_blocks()) {
    x = add_basic_block(graph, source, block, Strides::kBoth, "", x);
  }
  constexpr std::int64_t kStatistics = 2 * kResnet34Channels * kResnet34Bands;
  MaskedStatsHead head;
  head.weight = source.get("resnet.seg_1.weight", {kResnet34Size, kStatistics});
  head.bias = source.get("resnet.seg_1.bias", {kResnet34Size});
  head.speakers = speakers;
  return graph.finish({graph.add("resnet.seg_1", std::move(head), {x, masks}, "embeddings")});
}

}  // namespace diarist::model
