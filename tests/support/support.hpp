#pragma once
// Where tests find data that is not in the repository.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace diarist::test {

/// $DIARIST_SHARED, or the folder "shared" beside the checkout; empty when there is none.
std::filesystem::path shared_folder();

/// Bundles that `./dev` installed for tests ($DIARIST_TEST_MODELS or .cache/models); may not exist.
std::filesystem::path models_folder();

/// The sample recording of pyannote-audio that `./dev` fetched (.cache/sample); may not exist.
std::filesystem::path sample_folder();

/// True when missing data must fail a test instead of skipping it (DIARIST_REQUIRE_SHARED=1).
bool require_shared();

/// A fresh folder under the system's temporary folder, removed with the object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace diarist::test

/// Skips the test (fails with DIARIST_REQUIRE_SHARED=1) when a path is missing.
#define DIARIST_NEED(needed)                                                              \
  do {                                                                                    \
    const std::filesystem::path diarist_need_path = (needed);                             \
    if (diarist_need_path.empty() || !std::filesystem::exists(diarist_need_path)) {       \
      if (diarist::test::require_shared())                                                \
        FAIL() << "DIARIST_REQUIRE_SHARED=1, but " << diarist_need_path << " is missing"; \
      GTEST_SKIP() << "needs " << diarist_need_path << ", which is not here";             \
    }                                                                                     \
  } while (false)
