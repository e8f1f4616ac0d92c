// Fetching community-1: the original with a token, else mirrors, checked by content.

#include "pipeline/hub.hpp"

#include <cstdlib>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/run_control.hpp"
#include "fetch/download.hpp"
#include "model/bundle.hpp"
#include "model/checkpoint.hpp"
#include "model/fold.hpp"

namespace diarist::pipeline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultHub = "https://huggingface.co";
constexpr const char* kOriginal = "pyannote/speaker-diarization-community-1";
constexpr const char* kMirrors[] = {"avencera/speakrs-models", "FinDIT-Studio/dia-models"};
constexpr std::size_t kMostCandidates = 3;  // of one network in one repository
constexpr std::uint64_t kMostBytes = std::uint64_t{200} << 20;

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Keeps '/' and what RFC 3986 calls unreserved.
std::string escape_path(const std::string& path) {
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '/' || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

// One repository of the hub, with a folder for what comes from it.
class Repository {
 public:
  Repository(std::string hub, std::string name, std::string token, fs::path folder,
             const FetchOptions& options, const RunControl& control)
      : hub_(std::move(hub)),
        name_(std::move(name)),
        token_(std::move(token)),
        folder_(std::move(folder)),
        options_(options),
        control_(control) {}

  // Fetches everything that community-1 needs into folder().
  void fetch() {
    const HubChoice choice = choose_hub_files(tree());
    if (choice.plda.empty()) {
      base::fail(ErrorCode::kNotFound, "it has no PLDA (plda.npz and xvec_transform.npz)");
    }
    fetch_network(choice.segmentation, "pyannet");
    fetch_network(choice.embedding, "wespeaker-resnet34");
    for (const HubFile& file : choice.plda) fetch_file(file, fs::path(file.path).filename());
  }

  const fs::path& folder() const noexcept { return folder_; }

 private:
  std::vector<HubFile> tree() {
    const fs::path list = folder_ / "tree.json";
    std::error_code error;
    for (const char* old : {"tree.json", "tree.json.part", "tree.json.part.tag"}) {
      fs::remove(folder_ / old, error);
    }
    get(fmt::format("{}/api/models/{}/tree/main?recursive=1", hub_, name_), list, "",
        std::uint64_t{16} << 20);
    const std::string text = base::read_text(list);
    fs::remove(list, error);
    return parse_hub_tree(text, name_);
  }

  // The first candidate that is a network of this kind.
  void fetch_network(const std::vector<HubFile>& candidates, const std::string& kind) {
    std::string problems;
    for (std::size_t i = 0; i < candidates.size() && i < kMostCandidates; ++i) {
      const HubFile& candidate = candidates[i];
      const fs::path file = fetch_file(
          candidate,
          fmt::format("{}-{}{}", kind, i, fs::path(candidate.path).extension().string()));
      std::string found;
      try {
        found = model::recognize(model::read_checkpoint(file));
        if (found == kind) return;
      } catch (const Error& error) {
        found = error.what();
      }
      problems += fmt::format("; {} is no {} ({})", candidate.path, kind,
                              found.empty() ? "other tensors" : found);
      std::error_code ignored;
      fs::remove(file, ignored);
    }
    base::fail(ErrorCode::kNotFound, "it has no {} that can be read{}", kind, problems);
  }

  fs::path fetch_file(const HubFile& file, const fs::path& local) {
    const fs::path target = folder_ / local;
    std::error_code error;
    if (fs::exists(target, error)) fs::remove(target, error);
    get(fmt::format("{}/{}/resolve/main/{}", hub_, name_, escape_path(file.path)), target,
        file.sha256, kMostBytes);
    return target;
  }

  void get(const std::string& url, const fs::path& target, const std::string& sha256,
           std::uint64_t most) {
    fetch::download({.url = url,
                     .target = target,
                     .sha256 = sha256,
                     .bearer_token = token_,
                     .stall_seconds = options_.stall_seconds,
                     .max_bytes = most},
                    control_);
  }

  std::string hub_;
  std::string name_;
  std::string token_;
  fs::path folder_;
  const FetchOptions& options_;
  const RunControl& control_;
};

}  // namespace

BundleReport pull_from_hub(const fs::path& models, const FetchOptions& options,
                           const RunControl& control) {
  std::string hub = options.hub_url.empty() ? from_environment("DIARIST_HUB") : options.hub_url;
  if (hub.empty()) hub = kDefaultHub;
  while (hub.ends_with('/')) hub.pop_back();
  std::string token = from_environment("DIARIST_HUB_TOKEN");
  if (token.empty()) token = from_environment("HF_TOKEN");
  std::vector<std::string> names(std::begin(kMirrors), std::end(kMirrors));
  if (!token.empty()) names.insert(names.begin(), kOriginal);

  std::string failures;
  ErrorCode last = ErrorCode::kUnsupported;
  for (const std::string& name : names) {
    std::string plain = name;
    plain.replace(plain.find('/'), 1, "--");
    // The token is for the original only; mirrors are public.
    Repository repository(hub, name, name == kOriginal ? token : "", models / ".downloads" / plain,
                          options, control);
    try {
      repository.fetch();
      const BundleReport report =
          model::import_files({repository.folder()}, {}, models, options.allow_unknown_weights);
      std::error_code error;
      fs::remove_all(models / ".downloads", error);
      return report;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      base::log(control, LogLevel::kWarning, fmt::format("{}: {}", name, error.what()));
      failures += fmt::format("{}{}: {}", failures.empty() ? "" : "; ", name, error.what());
      last = error.code();
    }
  }
  base::fail(
      last == ErrorCode::kInvalidArgument ? last : ErrorCode::kUnsupported,
      "community-1 could not be fetched from {} ({}); import a local copy with: diarist models "
      "import FOLDER",
      hub, failures);
}

}  // namespace diarist::pipeline
