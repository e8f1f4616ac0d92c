// Shapes and lengths of the networks, taps, and weights that builders refuse.

#include "model/graph.hpp"

#include "model/networks.hpp"
#include "model_errors.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

using base::Shape;
using model::Graph;

Shape shape_of(const Graph& graph, const std::string& value) {
  return graph.values[graph.value(value)].shape;
}

TEST(Graphs, SegmentationHasTheDocumentedValues) {
  const Graph graph = model::segmentation_network(synthetic_weights("pyannet"));
  EXPECT_EQ(graph.name, "segmentation");
  EXPECT_EQ(shape_of(graph, "samples"), (Shape{160000}));
  EXPECT_EQ(shape_of(graph, "raw"), (Shape{15975, 80}));
  EXPECT_EQ(shape_of(graph, "sinc0"), (Shape{5325, 80}));
  EXPECT_EQ(shape_of(graph, "sinc1"), (Shape{1773, 60}));
  EXPECT_EQ(shape_of(graph, "sinc2"), (Shape{589, 60}));
  EXPECT_EQ(shape_of(graph, "lstm3"), (Shape{589, 256}));
  EXPECT_EQ(shape_of(graph, "linear1"), (Shape{589, 128}));
  EXPECT_EQ(shape_of(graph, "log_probabilities"), (Shape{589, 7}));
  EXPECT_EQ(shape_of(graph, "classes"), (Shape{589}));
  EXPECT_EQ(graph.values[graph.outputs[0]].type, model::ElementType::kU8);
}

TEST(Graphs, ResnetHasTheDocumentedValues) {
  const model::Weights weights = synthetic_weights("wespeaker-resnet34");
  const Graph graph = model::resnet34_network(weights);
  EXPECT_EQ(shape_of(graph, "stem"), (Shape{32, 80, 998}));
  EXPECT_EQ(shape_of(graph, "layer1.2"), (Shape{32, 80, 998}));
  EXPECT_EQ(shape_of(graph, "layer2.0.shortcut"), (Shape{64, 40, 499}));
  EXPECT_EQ(shape_of(graph, "layer3.5.hidden"), (Shape{128, 20, 250}));
  EXPECT_EQ(shape_of(graph, "layer4.2"), (Shape{256, 10, 125}));
  EXPECT_EQ(shape_of(graph, "embeddings"), (Shape{3, 256}));
  EXPECT_EQ(graph.nodes.size(), 37U);  // 36 convolutions and the head
  EXPECT_EQ(shape_of(model::resnet34_network(weights, 998, 6), "masks"), (Shape{6, 589}));
}

TEST(Graphs, CampplusLengths) {
  const Graph graph = model::campplus_network(synthetic_weights("campplus"));
  EXPECT_TRUE(graph.values[graph.value("features")].shared);
  EXPECT_EQ(shape_of(graph, "head"), (Shape{-1, 320}));
  EXPECT_EQ(shape_of(graph, "transit1"), (Shape{-1, 256}));
  EXPECT_EQ(shape_of(graph, "transit2"), (Shape{-1, 512}));
  EXPECT_EQ(shape_of(graph, "frames"), (Shape{-1, 512}));
  EXPECT_EQ(shape_of(graph, "embedding"), (Shape{192}));
  for (const auto& [rows, frames] : {std::pair{1, 1}, {2, 1}, {3, 2}, {37, 19}, {998, 499}}) {
    const std::vector<std::int64_t> lengths = model::ragged_lengths(graph, rows);
    EXPECT_EQ(lengths[graph.value("features")], 0);  // shared: no item's own
    EXPECT_EQ(lengths[graph.value("head")], rows);
    EXPECT_EQ(lengths[graph.value("tdnn")], frames) << rows;
    EXPECT_EQ(lengths[graph.value("frames")], frames) << rows;
    EXPECT_EQ(lengths[graph.value("embedding")], 0);
  }
}

TEST(Graphs, FrontEndLengths) {
  const auto last = [](const Graph& graph, std::int64_t samples) {
    return model::ragged_lengths(graph, samples)[graph.outputs[0]];
  };
  const Graph features = model::wespeaker_features();
  EXPECT_EQ(last(features, 399), 0);
  EXPECT_EQ(last(features, 400), 1);
  EXPECT_EQ(last(features, 559), 1);
  EXPECT_EQ(last(features, 160000), 998);
  const Graph sinc = model::sinc_front_end(synthetic_weights("pyannet"));
  EXPECT_EQ(last(sinc, 250), 0);
  EXPECT_EQ(last(sinc, 251), 1);
  EXPECT_EQ(last(sinc, 160000), 15975);
}

TEST(Graphs, TapsReplaceOutputs) {
  const Graph graph = model::segmentation_network(synthetic_weights("pyannet"));
  const Graph tapped = graph.with_outputs({"lstm1", "sinc0"});
  EXPECT_EQ(tapped.outputs,
            (std::vector<model::ValueId>{graph.value("lstm1"), graph.value("sinc0")}));
  EXPECT_EQ(tapped.nodes.size(), graph.nodes.size());
  expect_refused([&] { graph.value("lstm4"); }, ErrorCode::kInternal, {"segmentation", "lstm4"});
  EXPECT_STREQ(model::block_name(graph.nodes[0].block), "SincPool");
}

TEST(Graphs, ValueNamesAreUnique) {
  for (const Graph& graph : {model::segmentation_network(synthetic_weights("pyannet")),
                             model::resnet34_network(synthetic_weights("wespeaker-resnet34")),
                             model::campplus_network(synthetic_weights("campplus"))}) {
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
      EXPECT_EQ(graph.value(graph.values[i].name), static_cast<model::ValueId>(i));
    }
  }
}

/// Every tensor of the folded weights is needed and looked at by the builders.
TEST(Graphs, BuildersRefuseEveryWrongTensor) {
  const struct {
    const char* kind;
    std::function<void(const model::Weights&)> build;
  } cases[] = {{"pyannet", [](const model::Weights& w) { model::segmentation_network(w); }},
               {"wespeaker-resnet34", [](const model::Weights& w) { model::resnet34_network(w); }},
               {"campplus", [](const model::Weights& w) { model::campplus_network(w); }}};
  for (const auto& each : cases) {
    model::Weights weights = synthetic_weights(each.kind);
    int number = 0;
    for (auto& [name, tensor] : weights) {
      if (++number % 7 != 0) continue;  // a sample, for time
      const base::TensorF right = std::exchange(tensor, {{5}, std::vector<float>(5, 1.0F)});
      expect_refused([&] { each.build(weights); }, ErrorCode::kBadModel, {name, "[5]"});
      tensor = right;
    }
    weights.erase(weights.begin());
    expect_refused([&] { each.build(weights); }, ErrorCode::kBadModel, {"missing"});
  }
}

}  // namespace
}  // namespace diarist::test
