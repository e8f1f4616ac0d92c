// What an Embedder is made of: weights, devices, precisions; and what it tells about itself.

#include <gtest/gtest.h>

#include <set>

#include "../base/expect_error.hpp"
#include "chunks.hpp"
#include "support/synthetic_embedder.hpp"

namespace diarist::test {
namespace {

TEST(EmbedderOptions, UnknownWeightsNeedPermission) {
  EmbedderOptions options = synthetic_embedder();
  options.allow_unknown_weights = false;
  expect_error(ErrorCode::kBadModel, "--allow-unknown-weights", [&] { Embedder{options}; });
}

TEST(EmbedderOptions, MissingAndForeignWeightsAreNamed) {
  const TempFolder folder;
  EmbedderOptions options = synthetic_embedder();
  options.weights = folder.path() / "nothing.safetensors";
  expect_error(ErrorCode::kBadModel, "nothing.safetensors", [&] { Embedder{options}; });
  options.weights = folder.path();
  expect_error(ErrorCode::kBadModel, "so no bundle", [&] { Embedder{options}; });
  options.weights = synthetic_weight_file("pyannet");
  expect_error(ErrorCode::kBadModel, "no embedding network", [&] { Embedder{options}; });
  options.weights = folder.path() / "torn.safetensors";
  base::write_atomic(options.weights, "not weights at all");
  expect_error(ErrorCode::kBadModel, "torn.safetensors", [&] { Embedder{options}; });
  options.weights.clear();
  options.models = folder.path();
  expect_error(ErrorCode::kBadModel, "diarist models pull open", [&] { Embedder{options}; });
  options.preset = "community-1";
  expect_error(ErrorCode::kBadModel, "diarist models pull community-1", [&] { Embedder{options}; });
}

TEST(EmbedderOptions, FoldedAndUnfoldedWeightsAreTheSame) {
  EmbedderOptions options = synthetic_embedder();
  const std::vector<float> folded = forward(Embedder(options), chunks_of({0}));
  options.weights = synthetic_weight_file("wespeaker-resnet34", false);
  EXPECT_EQ(forward(Embedder(options), chunks_of({0})), folded);
}

TEST(EmbedderOptions, WishesThatCannotBeMetAreErrors) {
  const auto refuse = [](ErrorCode code, const std::string& part, const auto& change) {
    EmbedderOptions options = synthetic_embedder();
    change(options);
    expect_error(code, part, [&] { Embedder{options}; });
  };
  refuse(ErrorCode::kUnsupported, "TF32", [](auto& o) { o.precision = Precision::kTf32; });
  refuse(ErrorCode::kInvalidArgument, "tune file", [](auto& o) { o.tune_file = "tune.json"; });
  refuse(ErrorCode::kInvalidArgument, "-1", [](auto& o) { o.batch = -1; });
  refuse(ErrorCode::kInvalidArgument, "2147483647", [](auto& o) { o.batch = 2147483647; });
  refuse(ErrorCode::kInvalidArgument, "abacus", [](auto& o) { o.device = "abacus"; });
  refuse(ErrorCode::kInvalidArgument, "Z80", [](auto& o) { o.target = "Z80"; });
}

TEST(EmbedderOptions, InfoTellsWhatWasChosen) {
  EmbedderOptions options = synthetic_embedder();
  options.batch = 2;
  const EmbedderInfo info = Embedder(options).info();
  EXPECT_EQ(info.network, "wespeaker-resnet34");
  EXPECT_EQ(info.dim, 256);
  EXPECT_EQ(info.device, "cpu");
  EXPECT_EQ(info.features_device, "cpu");
  EXPECT_EQ(info.precision, "exact");
  EXPECT_EQ(info.batch, 2);
  EXPECT_NE(info.weights.find("sha256:"), std::string::npos) << info.weights;
  EXPECT_EQ(info.buffer_bytes, 2 * (kFeatureValues + kMaskValues + kVectorValues) * sizeof(float));
  EXPECT_GT(info.workspace_bytes, std::size_t{32} * 80 * 998 * 4);  // at least one map of stage 1
  // 36 convolutions and the head; every one with a kernel and a reason.
  ASSERT_EQ(info.layers.size(), 37U);
  EXPECT_GE(info.plans, 1);
  EXPECT_EQ(info.layers.front().layer, "resnet.conv1");
  EXPECT_EQ(info.layers.back().layer, "resnet.seg_1");
  std::set<std::string> names;
  for (const LayerChoice& layer : info.layers) {
    names.insert(layer.layer);
    EXPECT_FALSE(layer.kernel.empty() || layer.reason.empty()) << layer.layer;
  }
  EXPECT_EQ(names.size(), info.layers.size());
}

TEST(EmbedderOptions, CampplusHasNoChunks) {
  const Embedder embedder(synthetic_embedder("campplus"));
  EXPECT_EQ(embedder.dim(), 192);
  EXPECT_EQ(embedder.info().network, "campplus");
  const Chunks chunks = chunks_of({0});
  std::vector<float> out = chunks.embeddings();
  expect_error(ErrorCode::kUnsupported, "campplus",
               [&] { embedder.forward(chunks.features, chunks.masks, out); });
  expect_error(ErrorCode::kUnsupported, "community-1", [&] {
    embedder.forward_with_taps(chunks.features, chunks.masks, [](const Tap&) {});
  });
}

}  // namespace
}  // namespace diarist::test
