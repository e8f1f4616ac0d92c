// Folding against the unfolded formulas in double, recognition, and refusals.

#include "model/fold.hpp"

#include <cmath>
#include <limits>

#include "model_errors.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

using model::Checkpoint;
using model::Weights;

const std::vector<std::string> kKinds = {"pyannet", "wespeaker-resnet34", "campplus"};

void expect_same_bits(const Weights& a, const Weights& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) {
    ASSERT_EQ(b.count(name), 1U) << name;
    EXPECT_EQ(tensor.shape(), b.at(name).shape()) << name;
    EXPECT_TRUE(std::ranges::equal(tensor.values(), b.at(name).values())) << name;
  }
}

/// Batch norm as its definition says it, one channel.
double norm_of(const Checkpoint& checkpoint, const std::string& name, std::int64_t c, double x) {
  const auto number = [&](const char* part, double otherwise) {
    const auto found = checkpoint.find(name + part);
    return found == checkpoint.end() ? otherwise : static_cast<double>(found->second.values()[c]);
  };
  return (x - number(".running_mean", 0)) / std::sqrt(number(".running_var", 1) + 1e-5) *
             number(".weight", 1) +
         number(".bias", 0);
}

struct Pair {
  std::string kind, convolution, norm;
};

TEST(Fold, ConvolutionAndNormAreOneConvolution) {
  const std::vector<Pair> pairs = {
      {"wespeaker-resnet34", "resnet.conv1", "resnet.bn1"},
      {"wespeaker-resnet34", "resnet.layer1.2.conv2", "resnet.layer1.2.bn2"},
      {"wespeaker-resnet34", "resnet.layer4.0.shortcut.0", "resnet.layer4.0.shortcut.1"},
      {"campplus", "head.conv2", "head.bn2"},
      {"campplus", "head.layer2.0.shortcut.0", "head.layer2.0.shortcut.1"},
      {"campplus", "xvector.tdnn.linear", "xvector.tdnn.nonlinear.batchnorm"},
      {"campplus", "xvector.block2.tdnnd24.linear1", "xvector.block2.tdnnd24.nonlinear2.batchnorm"},
      {"campplus", "xvector.transit3.linear", "xvector.out_nonlinear.batchnorm"},
      {"campplus", "xvector.dense.linear", "xvector.dense.nonlinear.batchnorm"}};
  for (const Pair& pair : pairs) {
    const Checkpoint checkpoint = synthetic_checkpoint(pair.kind);
    const Weights weights = model::fold(pair.kind, checkpoint, "test");
    const base::TensorF& kernel = checkpoint.at(pair.convolution + ".weight");
    const base::TensorF& folded = weights.at(pair.convolution + ".weight");
    const base::TensorF& bias = weights.at(pair.convolution + ".weight_bias");
    ASSERT_EQ(folded.shape(), kernel.shape()) << pair.convolution;
    const std::int64_t outs = kernel.dim(0);
    const std::int64_t ins = kernel.size() / outs;
    const base::TensorF x = synthetic_tensor("x.bias", {ins}, 1);
    for (std::int64_t o = 0; o < outs; ++o) {
      double plain = 0;
      double once = bias.values()[o];
      for (std::int64_t i = 0; i < ins; ++i) {
        plain += static_cast<double>(kernel.values()[o * ins + i]) * x.values()[i];
        once += static_cast<double>(folded.values()[o * ins + i]) * x.values()[i];
      }
      // Folded weights are f32: each is off by at most 6e-8 of itself.
      EXPECT_NEAR(once, norm_of(checkpoint, pair.norm, o, plain), 1e-6) << pair.convolution;
    }
  }
}

TEST(Fold, NormsInFrontOfAReluBecomeScaleAndOffset) {
  const Checkpoint checkpoint = synthetic_checkpoint("campplus");
  const Weights weights = model::fold("campplus", checkpoint, "test");
  for (const std::string name :
       {"xvector.block1.tdnnd1.nonlinear1.batchnorm", "xvector.block3.tdnnd16.nonlinear1.batchnorm",
        "xvector.transit2.nonlinear.batchnorm"}) {
    const base::TensorF& scale = weights.at(name + ".scale");
    const base::TensorF& offset = weights.at(name + ".offset");
    EXPECT_EQ(weights.count(name + ".running_mean"), 0U);
    for (std::int64_t c = 0; c < scale.size(); ++c) {
      for (const double x : {-2.0, 0.0, 1.5}) {
        EXPECT_NEAR(static_cast<double>(scale.values()[c]) * x + offset.values()[c],
                    norm_of(checkpoint, name, c, x), 5e-7)
            << name << " " << c;
      }
    }
  }
}

TEST(Fold, FoldedFilesPassThrough) {
  for (const std::string& kind : kKinds) {
    const Weights once = synthetic_weights(kind);
    EXPECT_EQ(model::recognize(once), kind);
    expect_same_bits(once, model::fold(kind, once, "folded"));
  }
}

TEST(Fold, OnlyNeededTensorsAreTaken) {
  Checkpoint checkpoint = synthetic_checkpoint("pyannet");
  checkpoint["sincnet.conv1d.0.filterbank.n_"] = {{1, 125}, std::vector<float>(125, 1.0F)};
  checkpoint["loss.weight"] = {{3}, {1, 2, 3}};
  expect_same_bits(model::fold("pyannet", checkpoint, "test"), synthetic_weights("pyannet"));
}

/// Tiny variances make epsilon matter (campplus.md): it must be inside the root.
TEST(Fold, EpsilonIsAddedToTheVariance) {
  Checkpoint checkpoint = synthetic_checkpoint("campplus");
  const std::string norm = "xvector.block3.tdnnd5.nonlinear1.batchnorm";
  const std::int64_t channels = checkpoint.at(norm + ".running_var").size();
  checkpoint[norm + ".running_var"] = {{channels}, std::vector<float>(channels, 6.7e-6F)};
  checkpoint[norm + ".weight"] = {{channels}, std::vector<float>(channels, 1.0F)};
  const Weights weights = model::fold("campplus", checkpoint, "test");
  EXPECT_NEAR(weights.at(norm + ".scale").values()[0], 244.70, 0.01);  // 1/sqrt(1.67e-5)
}

TEST(Recognize, ByNames) {
  for (const std::string& kind : kKinds) {
    EXPECT_EQ(model::recognize(synthetic_checkpoint(kind)), kind);
  }
  EXPECT_EQ(model::recognize({}), "");
  EXPECT_EQ(model::recognize({{"conv1.weight", {{1}, {0.0F}}}}), "");
}

TEST(Fold, MissingTensorsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"pyannet", "lstm.weight_hh_l3_reverse"},
      {"pyannet", "sincnet.conv1d.0.filterbank.band_hz_"},
      {"pyannet", "classifier.weight"},
      {"wespeaker-resnet34", "resnet.layer3.5.bn2.running_var"},
      {"wespeaker-resnet34", "resnet.layer2.0.shortcut.0.weight"},
      {"campplus", "xvector.block2.tdnnd13.cam_layer.linear2.bias"},
      {"campplus", "xvector.transit1.nonlinear.batchnorm.weight"},
      {"campplus", "xvector.dense.nonlinear.batchnorm.running_mean"}};
  for (const auto& [kind, name] : cases) {
    Checkpoint checkpoint = synthetic_checkpoint(kind);
    ASSERT_EQ(checkpoint.erase(name), 1U) << name;
    expect_refused([&, k = kind] { model::fold(k, checkpoint, "weights.bin"); },
                   ErrorCode::kBadModel, {"weights.bin", name, "missing"});
  }
}

TEST(Fold, WrongShapesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"pyannet", "sincnet.conv1d.1.weight"},
      {"pyannet", "sincnet.conv1d.0.filterbank.low_hz_"},
      {"wespeaker-resnet34", "resnet.conv1.weight"},
      {"wespeaker-resnet34", "resnet.bn1.running_mean"},
      {"wespeaker-resnet34", "resnet.seg_1.weight"},
      {"campplus", "xvector.block1.tdnnd2.linear1.weight"},
      {"campplus", "xvector.block1.tdnnd2.cam_layer.linear1.weight"},
      {"campplus", "xvector.transit2.linear.weight"}};
  for (const auto& [kind, name] : cases) {
    Checkpoint checkpoint = synthetic_checkpoint(kind);
    checkpoint[name] = {{2, 3}, std::vector<float>(6, 1.0F)};
    expect_refused([&, k = kind] { model::fold(k, checkpoint, "weights.bin"); },
                   ErrorCode::kBadModel, {"weights.bin", name, "[2, 3]"});
  }
}

TEST(Fold, NumbersThatCannotBeWeights) {
  Checkpoint checkpoint = synthetic_checkpoint("wespeaker-resnet34");
  std::vector<float> bias(256, 0.0F);
  bias[7] = std::numeric_limits<float>::infinity();
  checkpoint["resnet.seg_1.bias"] = {{256}, bias};
  expect_refused([&] { model::fold("wespeaker-resnet34", checkpoint, "w"); }, ErrorCode::kBadModel,
                 {"resnet.seg_1.bias", "finite"});

  checkpoint = synthetic_checkpoint("wespeaker-resnet34");
  checkpoint["resnet.bn1.running_var"] = {{32}, std::vector<float>(32, -1.0F)};
  expect_refused([&] { model::fold("wespeaker-resnet34", checkpoint, "w"); }, ErrorCode::kBadModel,
                 {"resnet.bn1.running_var", "negative"});

  checkpoint = synthetic_checkpoint("pyannet");
  checkpoint["classifier.bias"] = {{7}, {1.0F, 2.0F}};  // fewer numbers than its shape says
  expect_refused([&] { model::fold("pyannet", checkpoint, "w"); }, ErrorCode::kBadModel,
                 {"classifier.bias", "2 numbers"});
}

TEST(Fold, UnknownKind) {
  expect_refused([] { model::fold("whisper", {}, "w"); }, ErrorCode::kBadModel, {"whisper"});
}

}  // namespace
}  // namespace diarist::test
