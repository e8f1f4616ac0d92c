// WeSpeaker ResNet34 with synthetic weights against spec/golden.

#include "golden_runner.hpp"
#include "model/networks.hpp"
#include "support/support.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

constexpr std::int64_t kSequences = 2560;
constexpr std::int64_t kFrames = 125;

/// Only the pooling, with some of the 5120 statistics (first, first + step, ...) as "embedding".
model::Graph statistics_graph(std::int64_t first, std::int64_t step) {
  const std::int64_t size = 2 * kSequences / step;
  std::vector<float> pick(static_cast<std::size_t>(size * 2 * kSequences), 0.0F);
  for (std::int64_t i = 0; i < size; ++i) pick[i * 2 * kSequences + first + i * step] = 1.0F;
  model::MaskedStatsHead head;
  head.weight = {{size, 2 * kSequences}, std::move(pick)};
  head.bias = {{size}, std::vector<float>(static_cast<std::size_t>(size), 0.0F)};
  head.speakers = 1;
  model::Graph graph;
  graph.name = "statistics";
  graph.values = {{"map", model::ElementType::kF32, {256, 10, kFrames}, false},
                  {"masks", model::ElementType::kF32, {1, 589}, false},
                  {"statistics", model::ElementType::kF32, {1, size}, false}};
  graph.nodes = {{"statistics", std::move(head), {0, 1}, 2}};
  graph.inputs = {0, 1};
  graph.outputs = {2};
  return graph;
}

class ResnetGolden : public GoldenTest {};

TEST_P(ResnetGolden, FramesStatisticsAndSixMasks) {
  DIARIST_NEED(shared_folder() / "spec" / "golden");
  const model::Weights weights = synthetic_weights("wespeaker-resnet34");
  const Numbers masks = golden("masks.npy");
  const model::Graph graph =
      model::resnet34_network(weights, 998, 6).with_outputs({"layer4.2", "embeddings"});
  const std::vector<Numbers> out =
      run_batch(device(), graph, {{{golden("fbank.npy"), masks}}, {}, {}})[0];

  Numbers rows;
  for (std::int64_t r = 0; r < kSequences; r += 64) {
    const Numbers row = some_rows(out[0], kFrames, r, 1);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  expect_close("resnet_frames_every_64th.npy", rows, golden("resnet_frames_every_64th.npy"));
  expect_close("embeddings.npy", out[1], golden("embeddings.npy"));

  // Frames 10 to 12 fall between the 125 frames that are looked at: as empty as no frame at all.
  const std::span<const float> bias = weights.at("resnet.seg_1.bias").values();
  EXPECT_EQ(some_rows(out[1], 256, 3, 1), Numbers(bias.begin(), bias.end()));
  EXPECT_EQ(some_rows(out[1], 256, 4, 1), Numbers(bias.begin(), bias.end()));

  constexpr std::int64_t kStep = 5;
  Numbers statistics(2 * kSequences);
  for (std::int64_t first = 0; first < kStep; ++first) {
    const Numbers part = run_batch(device(), statistics_graph(first, kStep),
                                   {{{out[0], some_rows(masks, 589, 1, 1)}}, {}, {}})[0][0];
    for (std::size_t i = 0; i < part.size(); ++i) {
      statistics[static_cast<std::size_t>(first) + i * kStep] = part[i];
    }
  }
  expect_close("stats_mask1.npy", statistics, golden("stats_mask1.npy"));
}

DIARIST_ON_EVERY_DEVICE(ResnetGolden);

}  // namespace
}  // namespace diarist::test
