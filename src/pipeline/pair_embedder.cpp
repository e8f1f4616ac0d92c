#include "pipeline/pair_embedder.hpp"

#include "pipeline/campplus_embedder.hpp"
#include "pipeline/resnet_embedder.hpp"

namespace diarist::pipeline {
namespace {

// For a segmentation that nothing follows.
class NoEmbedder final : public PairEmbedder {
 public:
  int dim() const noexcept override { return 0; }
  void enqueue(const PairBatch&) override {}
  void collect() override {}
  void reset() override {}
  std::vector<backend::Choice> choices() const override { return {}; }
};

}  // namespace

std::unique_ptr<PairEmbedder> make_pair_embedder(backend::Backend& backend, backend::Queue& queue,
                                                 const model::Preset& preset,
                                                 const model::Weights& weights, int windows,
                                                 int tape_seconds, Precision precision) {
  if (preset.embedding_kind == "wespeaker-resnet34")
    return make_resnet_embedder(backend, queue, weights, windows, precision);
  if (preset.embedding_kind.empty()) return std::make_unique<NoEmbedder>();
  if (preset.block_variant)
    return make_block_embedder(backend, queue, weights, windows, tape_seconds, precision);
  return make_gather_embedder(backend, queue, weights, windows, precision);
}

}  // namespace diarist::pipeline
