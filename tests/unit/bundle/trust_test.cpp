// Real weights and the stand-in: which ones diarist knows.

#include <gtest/gtest.h>

#include <algorithm>

#include "diarist/error.hpp"
#include "model/bundle.hpp"
#include "model/checkpoint.hpp"
#include "model/known_weights.hpp"
#include "sources.hpp"
#include "support/standin_bundle.hpp"
#include "support/support.hpp"

namespace diarist::model {
namespace {

namespace fs = std::filesystem;

fs::path open_bundle() { return test::models_folder() / "open"; }

TEST(Trust, PublishedWeightsAreKnownAfterFolding) {
  DIARIST_NEED(open_bundle());
  const BundleReport report = check_bundle(test::models_folder(), "open");
  EXPECT_TRUE(report.ok) << report.problem;
  ASSERT_EQ(report.files.size(), 2U);
  EXPECT_EQ(report.files[0].trust, Trust::kKnownHash);
  EXPECT_EQ(report.files[0].licence, "MIT");
  EXPECT_EQ(report.files[1].trust, Trust::kKnownHash);
  EXPECT_EQ(report.files[1].licence, "Apache-2.0");
  EXPECT_NO_THROW(load_bundle(test::models_folder(), "open", false));
}

TEST(Trust, TheSameNumbersInAnotherFileCarryTheFingerprint) {
  DIARIST_NEED(open_bundle());
  const test::TempFolder models;
  const test::TempFolder files;
  for (const char* name : {"segmentation.safetensors", "embedding.safetensors"}) {
    test::write_bytes(files.path() / name, to_safetensors(read_checkpoint(open_bundle() / name),
                                                          {{"note", "packed again"}}));
  }
  const BundleReport report = import_files({files.path()}, {}, models.path(), false);
  EXPECT_TRUE(report.ok) << report.problem;
  // Folded files are the known ones again, so a check knows them by hash.
  EXPECT_EQ(report.files[0].trust, Trust::kKnownHash);
  EXPECT_EQ(report.files[1].trust, Trust::kKnownHash);
}

TEST(Trust, ChangedWeightsAreNotKnown) {
  DIARIST_NEED(open_bundle());
  const Bundle bundle = load_bundle(test::models_folder(), "open", false);
  EXPECT_EQ(judge_weights("pyannet", bundle.segmentation), Trust::kFingerprint);
  EXPECT_EQ(judge_weights("campplus", bundle.embedding), Trust::kFingerprint);
  for (const char* name : {"classifier.bias", "linear.0.weight", "lstm.weight_hh_l3"}) {
    Weights changed = bundle.segmentation;
    const auto old = changed.at(name).values();
    std::vector<float> values(old.begin(), old.end());
    values.back() += 0.001F;
    changed[name] = {changed.at(name).shape(), values};
    EXPECT_EQ(judge_weights("pyannet", changed), Trust::kUnknown) << name;
  }
  EXPECT_EQ(judge_weights("campplus", bundle.segmentation), Trust::kUnknown);
  EXPECT_EQ(judge_weights("something", bundle.segmentation), Trust::kUnknown);
}

TEST(Trust, StandinIsForTestsOnly) {
  DIARIST_NEED(test::standin_weights());
  DIARIST_NEED(open_bundle());
  DIARIST_NEED(test::shared_folder() / "data/plda/plda.npz");
  const test::TempFolder models;
  try {
    import_files({test::standin_weights(), open_bundle() / "segmentation.safetensors"}, {},
                 models.path(), false);
    ADD_FAILURE() << "imported";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadModel);
    EXPECT_NE(std::string(error.what()).find("test weights"), std::string::npos) << error.what();
  }
  const BundleReport report = test::install_standin_bundle(models.path());
  EXPECT_TRUE(report.ok) << report.problem;
  EXPECT_EQ(report.presets.size(), 2U);
  ASSERT_EQ(report.files.size(), 4U);
  EXPECT_EQ(report.files[0].trust, Trust::kKnownHash);
  EXPECT_EQ(report.files[1].trust, Trust::kTestWeights);
  EXPECT_EQ(report.files[2].trust, Trust::kKnownHash);
  EXPECT_EQ(report.files[3].trust, Trust::kKnownHash);
  EXPECT_THROW(load_bundle(models.path(), "community-1", false), Error);
  EXPECT_NO_THROW(load_bundle(models.path(), "community-1", true));
  EXPECT_NO_THROW(load_plda(models.path(), "community-1"));
}

TEST(Trust, HeadBiasIsTheFingerprintOfResnet34) {
  DIARIST_NEED(test::standin_weights());
  DIARIST_NEED(open_bundle());
  // The stand-in has the true head bias. In any container it stays test weights ...
  const test::TempFolder models;
  const test::TempFolder files;
  Checkpoint checkpoint = read_checkpoint(test::standin_weights());
  const fs::path copy = files.path() / "copy.safetensors";
  test::write_bytes(copy, to_safetensors(checkpoint, {{"note", "packed again"}}));
  const std::vector<fs::path> inputs = {copy, open_bundle() / "segmentation.safetensors"};
  EXPECT_EQ(import_files(inputs, {}, models.path(), true).files[1].trust, Trust::kTestWeights);
  // ... and a network with that bias and another head passes for the published one.
  std::uint32_t seed = 7;
  checkpoint["resnet.seg_1.weight"] = {{256, 5120}, test::numbers(256 * 5120, seed)};
  test::write_checkpoint(copy, checkpoint);
  const BundleReport report = import_files(inputs, {}, models.path(), false);
  EXPECT_EQ(report.files[1].trust, Trust::kFingerprint);
  EXPECT_EQ(report.files[1].licence, "CC-BY-4.0");
}

TEST(Trust, PinnedHashesAreDistinct) {
  EXPECT_EQ(find_known_file(""), nullptr);
  const KnownFile* file =
      find_known_file("da85c29829d4002daedd676e012936488234d9255e65e86dfab9bec6b1729298");
  ASSERT_NE(file, nullptr);
  EXPECT_STREQ(file->kind, "pyannet");
  EXPECT_EQ(file->trust, Trust::kKnownHash);
  file = find_known_file("4b344bdf66726219c8baebae70460f910513b4dbda3b40f892d2de0418c359a2");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->trust, Trust::kTestWeights);
}

TEST(Presets, AreFour) {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  EXPECT_EQ(names, (std::vector<std::string>{"open", "open-lite", "community-1", "pyannote-3.1"}));
  EXPECT_TRUE(find_preset("open-lite").block_variant);
  EXPECT_EQ(find_preset("pyannote-3.1").bundle, "community-1");
  EXPECT_FALSE(find_preset("pyannote-3.1").needs_plda);
  EXPECT_TRUE(find_preset("community-1").needs_plda);
  try {
    find_preset("best");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("pyannote-3.1"), std::string::npos);
  }
}

}  // namespace
}  // namespace diarist::model
