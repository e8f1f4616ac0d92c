// Damaged bundles, bundles that lie about themselves, and interrupted installs.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/file.hpp"
#include "diarist/error.hpp"
#include "model/bundle.hpp"
#include "model/install.hpp"
#include "sources.hpp"
#include "support/support.hpp"

namespace diarist::model {
namespace {

namespace fs = std::filesystem;

class Damage : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    installed_ = new test::TempFolder();
    const test::TempFolder files;
    test::write_checkpoint(files.path() / "e.safetensors", test::made_resnet34(1));
    test::write_checkpoint(files.path() / "s.safetensors", test::made_pyannet(3));
    test::write_plda(files.path(), 5);
    import_files({files.path()}, {}, installed_->path(), true);
  }
  static void TearDownTestSuite() {
    delete installed_;
    installed_ = nullptr;
  }
  void SetUp() override {
    fs::copy(installed_->path(), models_.path(), fs::copy_options::recursive);
    ASSERT_NO_THROW(load_bundle(models_.path(), "community-1", true));
  }

  fs::path file(const std::string& name) const { return models_.path() / "community-1" / name; }

  // check says so for this file only, and load refuses.
  void expect_bad(const std::string& name, const std::string& words) {
    const BundleReport report = check_bundle(models_.path(), "community-1");
    EXPECT_FALSE(report.ok);
    EXPECT_FALSE(report.problem.empty());
    bool seen = false;
    for (const ModelFileReport& entry : report.files) {
      EXPECT_EQ(entry.ok, entry.name != name) << entry.name << ": " << entry.problem;
      if (entry.name != name) continue;
      seen = true;
      EXPECT_NE(entry.problem.find(words), std::string::npos) << entry.problem;
    }
    EXPECT_TRUE(seen);
    expect_refused(words);
  }

  void expect_refused(const std::string& words) {
    try {
      load_bundle(models_.path(), "community-1", true);
      ADD_FAILURE() << "loaded";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadModel) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }

  void edit_manifest(const std::string& from, const std::string& to) {
    std::string text = base::read_text(file("manifest.json"));
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    test::write_text(file("manifest.json"), text.replace(at, from.size(), to));
  }

  test::TempFolder models_;
  static test::TempFolder* installed_;
};

test::TempFolder* Damage::installed_ = nullptr;

TEST_F(Damage, OneFlippedBitIsFound) {
  for (const char* name : {"embedding.safetensors", "plda.npz"}) {
    std::fstream stream(file(name), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(50000);
    const char old = static_cast<char>(stream.get());
    stream.seekp(50000);
    stream.put(static_cast<char>(old ^ 1));
    stream.close();
    expect_bad(name, "sha256");
    stream.open(file(name), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(50000);
    stream.put(old);
  }
  EXPECT_TRUE(check_bundle(models_.path(), "community-1").ok);
}

TEST_F(Damage, ShortFilesAreFoundWithoutReadingThem) {
  fs::resize_file(file("segmentation.safetensors"), 1000);
  const std::vector<BundleReport> listed = list_bundles(models_.path());
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_FALSE(listed[0].ok);
  expect_bad("segmentation.safetensors", "damaged");
}

TEST_F(Damage, MissingFiles) {
  fs::remove(file("embedding.safetensors"));
  EXPECT_FALSE(list_bundles(models_.path())[0].ok);
  expect_bad("embedding.safetensors", "missing");
}

TEST_F(Damage, DamagedManifest) {
  test::write_text(file("manifest.json"), "{\"format\": ");
  expect_refused("manifest.json");
  EXPECT_FALSE(check_bundles(models_.path())[0].ok);
  EXPECT_FALSE(list_bundles(models_.path())[0].ok);
}

TEST_F(Damage, MissingBundleNamesTheCure) {
  fs::remove_all(models_.path() / "community-1");
  expect_refused("diarist models pull community-1");
  EXPECT_TRUE(list_bundles(models_.path()).empty());
  EXPECT_TRUE(list_bundles(models_.path() / "nowhere").empty());
  EXPECT_FALSE(check_bundle(models_.path(), "community-1").ok);
}

TEST_F(Damage, TrustIsNotBelieved) {
  edit_manifest("\"trust\": \"unknown\"", "\"trust\": \"known hash\"");
  EXPECT_EQ(check_bundle(models_.path(), "community-1").files[0].trust, Trust::kUnknown);
  EXPECT_THROW(load_bundle(models_.path(), "community-1", false), Error);
}

TEST_F(Damage, ManifestMustDescribeTheTensors) {
  edit_manifest("\"resnet.seg_1.bias\"", "\"resnet.seg_9.bias\"");
  expect_bad("embedding.safetensors", "not those of the manifest");
}

TEST_F(Damage, AFolderMustCarryTheBundlesName) {
  fs::rename(models_.path() / "community-1", models_.path() / "open");
  try {
    load_bundle(models_.path(), "open", true);
    ADD_FAILURE() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadModel);
  }
}

TEST_F(Damage, FailedInstallLeavesTheOldBundle) {
  const InstallLock lock(models_.path());
  EXPECT_THROW(install_folder(models_.path(), "community-1", lock,
                              [](const fs::path& folder) {
                                test::write_text(folder / "manifest.json", "half of it");
                                throw std::runtime_error("disk full");
                              }),
               std::runtime_error);
  EXPECT_NO_THROW(load_bundle(models_.path(), "community-1", true));
  EXPECT_FALSE(fs::exists(models_.path() / ".staging-community-1"));
}

TEST_F(Damage, KilledInstallLeavesTheOldBundle) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const InstallLock lock(models_.path());
    install_folder(models_.path(), "community-1", lock, [](const fs::path& folder) {
      std::ofstream(folder / "embedding.safetensors") << "half of it";
      raise(SIGKILL);
    });
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(fs::exists(models_.path() / ".staging-community-1"));
  EXPECT_NO_THROW(load_bundle(models_.path(), "community-1", true));
  EXPECT_EQ(list_bundles(models_.path()).size(), 1U);
  // The next install is not in its way and cleans up.
  const InstallLock lock(models_.path());
  install_folder(models_.path(), "community-1", lock, [](const fs::path& folder) {
    EXPECT_TRUE(fs::is_empty(folder));
    test::write_text(folder / "manifest.json", "new");
  });
  EXPECT_EQ(base::read_text(file("manifest.json")), "new");
  EXPECT_FALSE(fs::exists(models_.path() / ".staging-community-1"));
}

TEST_F(Damage, ARetiredBundleComesBack) {
  // What the path without an atomic exchange leaves when the process dies between its renames.
  fs::rename(models_.path() / "community-1", models_.path() / ".retired-community-1");
  const InstallLock lock(models_.path());
  EXPECT_THROW(install_folder(models_.path(), "community-1", lock,
                              [](const fs::path&) { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_NO_THROW(load_bundle(models_.path(), "community-1", true));
}

TEST(InstallLock, WaitsForTheOtherHolder) {
  const test::TempFolder models;
  auto first = std::make_unique<InstallLock>(models.path());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    first.reset();  // a forked descriptor shares the parent's lock
    const InstallLock second(models.path());
    _exit(0);
  }
  int status = 0;
  usleep(200000);
  EXPECT_EQ(waitpid(child, &status, WNOHANG), 0) << "two processes held the lock";
  first.reset();
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace diarist::model
