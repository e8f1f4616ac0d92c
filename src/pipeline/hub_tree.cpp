// Which files of a repository are the networks and the PLDA.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.hpp"
#include "pipeline/hub.hpp"

namespace diarist::pipeline {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLargestModel = std::uint64_t{200}
                                        << 20;  // bytes; the networks have 6 and 27 MB

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool contains_any(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

// Rank of the container: 0 the published one; -1 nothing we read.
int container_rank(const std::string& name) {
  if (name.ends_with(".bin")) return 0;
  if (name.ends_with(".safetensors")) return 1;
  if (name.ends_with(".onnx")) return 2;
  if (name.ends_with(".ckpt") || name.ends_with(".pt") || name.ends_with(".pth")) return 3;
  return -1;
}

// Reduced precision, other platforms, and parts without the networks' weights.
bool is_useless(const std::string& path) {
  return contains_any(path, {"int8", "fp16", "float16", "quant", "q4", "bnb", "mlmodelc",
                             "mlpackage", "/weights/", "fbank", "chunk"});
}

// Exports for fixed batches or without the front end: the same weights under other names, perhaps.
bool is_variant(const std::string& path) {
  return contains_any(path, {"-b3", "-b6", "_b32", "_b64", "tail", "multimask", "batch"});
}

std::vector<HubFile> ranked(const std::vector<HubFile>& files,
                            std::initializer_list<const char*> words,
                            std::initializer_list<const char*> not_words) {
  std::vector<HubFile> found;
  for (const HubFile& file : files) {
    const std::string path = lower(file.path);
    if (container_rank(path) < 0 || is_useless(path) || file.size > kLargestModel) continue;
    if (contains_any(path, words) && !contains_any(path, not_words)) found.push_back(file);
  }
  std::sort(found.begin(), found.end(), [](const HubFile& a, const HubFile& b) {
    const auto key = [](const HubFile& file) {
      const std::string path = lower(file.path);
      return std::tuple(is_variant(path), container_rank(path), path.size(), file.path);
    };
    return key(a) < key(b);
  });
  return found;
}

// The shortest path that ends in the name.
const HubFile* find_named(const std::vector<HubFile>& files, const std::string& name) {
  const HubFile* best = nullptr;
  for (const HubFile& file : files) {
    if (base_name(file.path) != name) continue;
    if (best == nullptr || file.path.size() < best->path.size()) best = &file;
  }
  return best;
}

// All names, or nothing.
std::vector<HubFile> complete_set(const std::vector<HubFile>& files,
                                  std::initializer_list<const char*> names) {
  std::vector<HubFile> set;
  for (const char* name : names) {
    const HubFile* file = find_named(files, name);
    if (file == nullptr) return {};
    set.push_back(*file);
  }
  return set;
}

}  // namespace

std::vector<HubFile> parse_hub_tree(std::string_view json, const std::string& source) {
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || !root.is_array()) {
    base::fail(ErrorCode::kBadFile, "{}: the hub's list of files is not readable", source);
  }
  std::vector<HubFile> files;
  for (const Json& entry : root) {
    if (!entry.is_object() || entry.value("type", Json()) != "file") continue;
    const Json path = entry.value("path", Json());
    if (!path.is_string()) continue;
    HubFile file;
    file.path = path.get<std::string>();
    const Json size = entry.value("size", Json());
    if (size.is_number_unsigned()) file.size = size.get<std::uint64_t>();
    const Json lfs = entry.value("lfs", Json());
    if (lfs.is_object()) {
      const Json hash = lfs.value("oid", Json());
      if (hash.is_string() && hash.get_ref<const std::string&>().size() == 64) {
        file.sha256 = hash.get<std::string>();
      }
    }
    files.push_back(std::move(file));
  }
  return files;
}

HubChoice choose_hub_files(const std::vector<HubFile>& files) {
  HubChoice choice;
  choice.segmentation = ranked(files, {"segmentation"}, {"embedding/", "plda"});
  choice.embedding =
      ranked(files, {"wespeaker", "resnet34", "embedding"}, {"segmentation", "plda"});
  choice.plda = complete_set(files, {"plda.npz", "xvec_transform.npz"});
  if (choice.plda.empty()) {
    choice.plda = complete_set(files, {"plda_mean1.npy", "plda_lda.npy", "plda_mean2.npy",
                                       "plda_mu.npy", "plda_tr.npy", "plda_psi.npy"});
  }
  return choice;
}

}  // namespace diarist::pipeline
