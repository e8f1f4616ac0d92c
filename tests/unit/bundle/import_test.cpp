// Importing, loading and checking bundles of made-up weights.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "diarist/error.hpp"
#include "model/bundle.hpp"
#include "model/fold.hpp"
#include "sources.hpp"
#include "support/support.hpp"

namespace diarist::model {
namespace {

namespace fs = std::filesystem;

// The sources are made once: 27 MB each.
struct Sources {
  test::TempFolder temp;
  fs::path resnet = temp.path() / "published/embedding/weights.safetensors";
  fs::path other_resnet = temp.path() / "other.safetensors";
  fs::path segmentation = temp.path() / "published/segmentation/weights.safetensors";
  fs::path campplus = temp.path() / "campplus.safetensors";
  fs::path published = temp.path() / "published";
  Sources() {
    test::write_checkpoint(resnet, test::made_resnet34(1));
    test::write_checkpoint(other_resnet, test::made_resnet34(2));
    test::write_checkpoint(segmentation, test::made_pyannet(3));
    test::write_checkpoint(campplus, test::made_campplus(4));
    test::write_plda(published / "plda", 5);
    test::write_text(published / "config.yaml", "pipeline: something\n");
  }
};

const Sources& sources() {
  static const Sources kSources;
  return kSources;
}

template <typename Body>
void expect_error(ErrorCode code, const std::string& words, Body body) {
  try {
    body();
    ADD_FAILURE() << "no error with '" << words << "'";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

void expect_same(const Weights& a, const Weights& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) {
    const auto found = b.find(name);
    ASSERT_NE(found, b.end()) << name;
    EXPECT_EQ(tensor.shape(), found->second.shape()) << name;
    EXPECT_TRUE(std::ranges::equal(tensor.values(), found->second.values())) << name;
  }
}

TEST(Import, PublishedFolderBecomesCommunity1) {
  const test::TempFolder models;
  const BundleReport report = import_files({sources().published}, {}, models.path(), true);
  EXPECT_TRUE(report.ok) << report.problem;
  EXPECT_EQ(report.name, "community-1");
  EXPECT_EQ(report.presets, (std::vector<std::string>{"community-1", "pyannote-3.1"}));
  ASSERT_EQ(report.files.size(), 4U);
  for (const ModelFileReport& file : report.files) {
    EXPECT_EQ(file.trust, Trust::kUnknown) << file.name;
    EXPECT_EQ(file.licence, "unknown");
  }
  const Bundle bundle = load_bundle(models.path(), "community-1", true);
  EXPECT_EQ(bundle.embedding_kind, "wespeaker-resnet34");
  expect_same(bundle.embedding, fold("wespeaker-resnet34", test::made_resnet34(1), "test"));
  expect_same(bundle.segmentation, fold("pyannet", test::made_pyannet(3), "test"));
  ASSERT_TRUE(bundle.plda);
  EXPECT_EQ(bundle.plda->mean1.size(), 256U);
  EXPECT_EQ(bundle.plda->lda.size(), 256U * 128U);
  EXPECT_EQ(bundle.plda->tr.size(), 128U * 128U);
  EXPECT_EQ(load_plda(models.path(), "community-1", true).psi, bundle.plda->psi);
  expect_error(ErrorCode::kBadModel, "--allow-unknown-weights",
               [&] { load_plda(models.path(), "community-1"); });
}

TEST(Import, CampplusBecomesOpen) {
  const test::TempFolder models;
  const BundleReport report =
      import_files({sources().campplus, sources().segmentation}, {}, models.path(), true);
  EXPECT_EQ(report.name, "open");
  EXPECT_TRUE(report.ok) << report.problem;
  EXPECT_EQ(report.presets, (std::vector<std::string>{"open", "open-lite"}));
  EXPECT_EQ(report.files.size(), 2U);  // the PLDA that lies beside belongs to the other bundle
  expect_same(load_bundle(models.path(), "open", true).embedding,
              fold("campplus", test::made_campplus(4), "test"));
  expect_error(ErrorCode::kInvalidArgument, "--plda", [&] {
    import_files({sources().campplus, sources().segmentation}, sources().published / "plda",
                 models.path(), true);
  });
}

TEST(Import, UnknownWeightsNeedPermission) {
  const test::TempFolder models;
  expect_error(ErrorCode::kBadModel, "--allow-unknown-weights",
               [&] { import_files({sources().published}, {}, models.path(), false); });
  EXPECT_TRUE(list_bundles(models.path()).empty());
  import_files({sources().published}, {}, models.path(), true);
  expect_error(ErrorCode::kBadModel, "--allow-unknown-weights",
               [&] { load_bundle(models.path(), "community-1", false); });
}

TEST(Import, WithoutPldaServesPyannote31Only) {
  const test::TempFolder models;
  const test::TempFolder alone;
  fs::copy_file(sources().resnet, alone.path() / "a.safetensors");
  fs::copy_file(sources().segmentation, alone.path() / "b.safetensors");
  const BundleReport report = import_files({alone.path()}, {}, models.path(), true);
  EXPECT_EQ(report.presets, std::vector<std::string>{"pyannote-3.1"});
  EXPECT_FALSE(load_bundle(models.path(), "community-1", true).plda);
  expect_error(ErrorCode::kBadModel, "--plda",
               [&] { load_plda(models.path(), "community-1", true); });
  const BundleReport with =
      import_files({alone.path()}, sources().published / "plda", models.path(), true);
  EXPECT_EQ(with.presets.size(), 2U);
}

TEST(Import, TakesPldaAsSingleArrays) {
  const test::TempFolder models;
  const test::TempFolder folder;
  for (const auto& [name, bytes] : test::made_plda(5)) {
    test::write_text(folder.path() / ("plda_" + name + ".npy"), bytes);
  }
  import_files({sources().resnet, sources().segmentation}, folder.path(), models.path(), true);
  const PldaArrays single = load_plda(models.path(), "community-1", true);
  import_files({sources().published}, {}, models.path(), true);
  const PldaArrays packed = load_plda(models.path(), "community-1", true);
  EXPECT_EQ(single.lda, packed.lda);
  EXPECT_EQ(single.tr, packed.tr);
  EXPECT_EQ(single.mean1, packed.mean1);
  fs::remove(folder.path() / "plda_mu.npy");
  expect_error(ErrorCode::kBadModel, "'mu'", [&] {
    import_files({sources().resnet, sources().segmentation}, folder.path(), models.path(), true);
  });
}

TEST(Import, RefusesBadPlda) {
  const test::TempFolder models;
  const test::TempFolder folder;
  auto files = test::made_plda(5);
  const std::vector<float> short_values(127, 1.0F);
  const std::vector<std::byte> bytes = base::to_npy<float>({127}, short_values);
  files["mu"] = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  for (const auto& [name, content] : files) {
    test::write_text(folder.path() / ("plda_" + name + ".npy"), content);
  }
  expect_error(ErrorCode::kBadModel, "wrong shape", [&] {
    import_files({sources().resnet, sources().segmentation}, folder.path(), models.path(), true);
  });
  std::vector<float> not_finite(128, 1.0F);
  not_finite[5] = NAN;
  const std::vector<std::byte> nan_bytes = base::to_npy<float>({128}, not_finite);
  test::write_bytes(folder.path() / "plda_mu.npy", nan_bytes);
  expect_error(ErrorCode::kBadModel, "no number", [&] {
    import_files({sources().resnet, sources().segmentation}, folder.path(), models.path(), true);
  });
  EXPECT_TRUE(list_bundles(models.path()).empty());
}

TEST(Import, SegmentationComesFromAnInstalledBundle) {
  const test::TempFolder models;
  const test::TempFolder alone;
  fs::copy_file(sources().resnet, alone.path() / "a.safetensors");
  expect_error(ErrorCode::kBadModel, "no segmentation-3.0",
               [&] { import_files({alone.path()}, {}, models.path(), true); });
  import_files({sources().campplus, sources().segmentation}, {}, models.path(), true);
  const BundleReport report = import_files({alone.path()}, {}, models.path(), true);
  EXPECT_TRUE(report.ok);
  EXPECT_NE(report.files[0].source.find("installed bundle 'open'"), std::string::npos);
  expect_same(load_bundle(models.path(), "community-1", true).segmentation,
              load_bundle(models.path(), "open", true).segmentation);
}

TEST(Import, ReadsArchivesOfFiles) {
  const test::TempFolder models;
  const test::TempFolder folder;
  const auto content = [](const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const fs::path wheel = folder.path() / "package-1.0-py3-none-any.whl";
  test::write_text(
      wheel, test::make_zip({{"package/__init__.py", "import os"},
                             {"package/a/weights.safetensors", content(sources().campplus), true},
                             {"package/broken.pt", "no archive"},
                             {"package/seg.safetensors", content(sources().segmentation)}}));
  const BundleReport report = import_files({wheel}, {}, models.path(), true);
  EXPECT_TRUE(report.ok) << report.problem;
  EXPECT_EQ(report.name, "open");
  EXPECT_EQ(report.files[1].source, "package-1.0-py3-none-any.whl: package/a/weights.safetensors");
}

TEST(Import, SaysWhatIsWrongWithTheInputs) {
  const test::TempFolder models;
  const test::TempFolder folder;
  const fs::path text = folder.path() / "readme.bin";
  test::write_text(text, "just words, nothing else");
  test::write_text(folder.path() / "empty.safetensors", "");
  expect_error(ErrorCode::kInvalidArgument, "nothing to import",
               [&] { import_files({}, {}, models.path(), true); });
  expect_error(ErrorCode::kNotFound, "nowhere.bin",
               [&] { import_files({folder.path() / "nowhere.bin"}, {}, models.path(), true); });
  expect_error(ErrorCode::kBadModel, "readme.bin",
               [&] { import_files({text}, {}, models.path(), true); });
  expect_error(ErrorCode::kBadModel, "empty.safetensors",
               [&] { import_files({folder.path()}, {}, models.path(), true); });
  expect_error(ErrorCode::kBadModel, "no embedding model",
               [&] { import_files({sources().segmentation}, {}, models.path(), true); });
  expect_error(ErrorCode::kInvalidArgument, "one at a time", [&] {
    import_files({sources().resnet, sources().campplus, sources().segmentation}, {}, models.path(),
                 true);
  });
  expect_error(ErrorCode::kBadModel, "different weights", [&] {
    import_files({sources().resnet, sources().other_resnet, sources().segmentation}, {},
                 models.path(), true);
  });
  expect_error(ErrorCode::kNotFound, "is no folder", [&] {
    import_files({sources().resnet, sources().segmentation}, folder.path() / "nope", models.path(),
                 true);
  });
  EXPECT_TRUE(list_bundles(models.path()).empty());
}

TEST(Import, TheSameFileTwiceIsFine) {
  const test::TempFolder models;
  const test::TempFolder folder;
  fs::copy_file(sources().resnet, folder.path() / "a.safetensors");
  fs::copy_file(sources().resnet, folder.path() / "copy.safetensors");
  fs::copy_file(sources().segmentation, folder.path() / "s.safetensors");
  EXPECT_TRUE(import_files({folder.path()}, {}, models.path(), true).ok);
}

TEST(Import, ReplacesTheOlderBundle) {
  const test::TempFolder models;
  import_files({sources().published}, {}, models.path(), true);
  const BundleReport again = import_files({sources().published}, {}, models.path(), true);
  EXPECT_TRUE(again.ok);
  import_files({sources().other_resnet, sources().segmentation}, {}, models.path(), true);
  const Bundle bundle = load_bundle(models.path(), "community-1", true);
  expect_same(bundle.embedding, fold("wespeaker-resnet34", test::made_resnet34(2), "test"));
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(models.path())) {
    left.push_back(entry.path().filename().string());
  }
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{".install.lock", "community-1"}));
}

TEST(Import, ABundleCanBeImportedAgainFromItsFolder) {
  const test::TempFolder models;
  const test::TempFolder second;
  const BundleReport first = import_files({sources().published}, {}, models.path(), true);
  const BundleReport copy = import_files({models.path() / "community-1"}, {}, second.path(), true);
  ASSERT_EQ(copy.files.size(), first.files.size());
  for (std::size_t i = 0; i < copy.files.size(); ++i) {
    EXPECT_EQ(copy.files[i].sha256, first.files[i].sha256);
  }
}

TEST(Import, TwoAtOnceBothSucceed) {
  const test::TempFolder models;
  import_files({sources().published}, {}, models.path(), true);
  std::atomic<int> good = 0;
  std::atomic<bool> done = false;
  std::atomic<int> loads = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back(
        [&] { good += import_files({sources().published}, {}, models.path(), true).ok ? 1 : 0; });
  }
  std::jthread reader([&] {
    while (!done) {  // never sees a missing or half-written bundle
      EXPECT_NO_THROW(load_bundle(models.path(), "community-1", true));
      ++loads;
    }
  });
  threads.clear();
  done = true;
  reader.join();
  EXPECT_EQ(good, 2);
  EXPECT_GT(loads, 0);
}

}  // namespace
}  // namespace diarist::model
