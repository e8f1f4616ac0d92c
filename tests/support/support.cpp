#include "support/support.hpp"

#include <unistd.h>

namespace diarist::test {
namespace {

std::filesystem::path from_environment(const char* name, const std::filesystem::path& fallback) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::filesystem::path(value) : fallback;
}

const std::filesystem::path kSource = DIARIST_SOURCE_DIR;

}  // namespace

std::filesystem::path shared_folder() {
  return from_environment("DIARIST_SHARED", kSource.parent_path() / "shared");
}

std::filesystem::path models_folder() {
  return from_environment("DIARIST_TEST_MODELS", kSource / ".cache" / "models");
}

std::filesystem::path sample_folder() {
  return from_environment("DIARIST_TEST_SAMPLE", kSource / ".cache" / "sample");
}

bool require_shared() {
  const char* value = std::getenv("DIARIST_REQUIRE_SHARED");
  return value != nullptr && std::string(value) == "1";
}

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "diarist-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed: " + name);
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace diarist::test
