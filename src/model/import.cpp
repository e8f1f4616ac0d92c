// From weight files to an installed bundle.

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "model/bundle.hpp"
#include "model/bundle_reader.hpp"
#include "model/checkpoint.hpp"
#include "model/import_inputs.hpp"
#include "model/install.hpp"
#include "model/known_weights.hpp"
#include "model/plda_files.hpp"

namespace diarist::model {
namespace {

namespace fs = std::filesystem;

// Everything a bundle will be made of.
struct Parts {
  std::string bundle;
  FoundModel segmentation;
  FoundModel embedding;
  std::vector<FoundPlda> plda;
};

std::string all_notes(const FoundInputs& found) {
  std::string text;
  for (const std::string& note : found.notes) text += "; " + note;
  return text;
}

const FoundModel& pick_embedding(const FoundInputs& found) {
  const FoundModel* resnet = pick_model(found.models, "wespeaker-resnet34");
  const FoundModel* campplus = pick_model(found.models, "campplus");
  if (resnet != nullptr && campplus != nullptr) {
    base::fail(ErrorCode::kInvalidArgument,
               "'{}' and '{}' belong to two bundles (community-1 and open); import them one at a "
               "time",
               resnet->label, campplus->label);
  }
  if (resnet == nullptr && campplus == nullptr) {
    base::fail(ErrorCode::kBadModel,
               "no embedding model (WeSpeaker ResNet34 or CAM++) among the files given{}",
               all_notes(found));
  }
  return resnet != nullptr ? *resnet : *campplus;
}

// The segmentation of an installed bundle: both bundles use the same weights.
std::optional<FoundModel> installed_segmentation(const fs::path& models, const std::string& first) {
  std::vector<std::string> names = {first, first == "open" ? "community-1" : "open"};
  for (const std::string& name : names) {
    std::error_code error;
    if (!fs::exists(models / name / kManifestName, error)) continue;
    try {
      const Manifest manifest = read_manifest(models / name);
      const ManifestFile& file = *manifest.with_role("segmentation").front();
      ModelFileReport report;
      FoundModel model;
      model.weights = read_weights(models / name, file, report);
      model.kind = file.kind;
      model.label = fmt::format("{} (taken from the installed bundle '{}')", file.source, name);
      model.source_sha256 = file.source_sha256;
      model.trust = report.trust;
      return model;
    } catch (const Error&) {
      continue;  // a damaged bundle has nothing to lend
    }
  }
  return std::nullopt;
}

// PLDA files given, found among the inputs, or lying beside them as in the published folder.
std::vector<FoundPlda> pick_plda(const FoundInputs& found, const std::vector<fs::path>& inputs,
                                 const fs::path& folder) {
  if (!folder.empty()) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      base::fail(ErrorCode::kNotFound,
                 "{}: is no folder; --plda names the folder that holds "
                 "plda.npz and xvec_transform.npz",
                 folder.string());
    }
    std::vector<FoundPlda> plda = find_plda(folder);
    if (plda.empty()) {
      base::fail(ErrorCode::kNotFound, "{}: holds no plda.npz and xvec_transform.npz",
                 folder.string());
    }
    return plda;
  }
  if (!found.plda.empty()) return found.plda;
  for (const fs::path& input : inputs) {
    const fs::path parent = fs::absolute(input).lexically_normal().parent_path();
    for (const fs::path& place : {parent, parent / "plda", parent.parent_path() / "plda"}) {
      if (std::vector<FoundPlda> plda = find_plda(place); !plda.empty()) return plda;
    }
  }
  return {};
}

// Keeps as few files as give the six arrays, archives before single arrays, known ones first.
std::vector<FoundPlda> reduce_plda(std::vector<FoundPlda> files, PldaArrays& arrays) {
  std::stable_sort(files.begin(), files.end(), [](const FoundPlda& a, const FoundPlda& b) {
    const auto key = [](const FoundPlda& file) {
      return std::pair(file.trust != Trust::kKnownHash, file.file_name.ends_with(".npy"));
    };
    return key(a) < key(b);
  });
  std::vector<FoundPlda> kept;
  std::map<std::string, base::NpyArray> all;
  for (FoundPlda& file : files) {
    const bool adds = std::any_of(file.arrays.begin(), file.arrays.end(),
                                  [&](const auto& item) { return !all.contains(item.first); });
    const bool name_taken = std::any_of(kept.begin(), kept.end(), [&](const FoundPlda& other) {
      return other.file_name == file.file_name;
    });
    if (!adds || name_taken) continue;
    all.insert(file.arrays.begin(), file.arrays.end());
    kept.push_back(std::move(file));
  }
  arrays = assemble_plda(all, kept.empty() ? "PLDA" : kept.front().label);
  return kept;
}

Parts gather(const std::vector<fs::path>& inputs, const fs::path& plda, const fs::path& models) {
  FoundInputs found = find_inputs(inputs);
  Parts parts;
  parts.embedding = pick_embedding(found);
  const bool resnet = parts.embedding.kind == "wespeaker-resnet34";
  parts.bundle = resnet ? "community-1" : "open";
  if (!resnet && !plda.empty()) {
    base::fail(ErrorCode::kInvalidArgument,
               "--plda belongs to the bundle community-1, but '{}' is CAM++; leave it out",
               parts.embedding.label);
  }
  if (const FoundModel* segmentation = pick_model(found.models, "pyannet")) {
    parts.segmentation = *segmentation;
  } else if (auto installed = installed_segmentation(models, parts.bundle)) {
    parts.segmentation = std::move(*installed);
  } else {
    base::fail(ErrorCode::kBadModel,
               "no segmentation-3.0 among the files given and none installed in {}; add its file, "
               "or run first: diarist models pull open{}",
               models.string(), all_notes(found));
  }
  if (resnet) {
    std::vector<FoundPlda> files = pick_plda(found, inputs, plda);
    PldaArrays arrays;
    if (!files.empty()) parts.plda = reduce_plda(std::move(files), arrays);
  }
  return parts;
}

std::string licence_of(const std::string& kind, const std::string& sha256, Trust trust) {
  if (const KnownFile* known = find_known_file(sha256)) return known->licence;
  if (trust == Trust::kKnownHash || trust == Trust::kFingerprint) return published_licence(kind);
  return trust == Trust::kTestWeights ? "test weights" : "unknown";
}

std::string source_of(const std::string& label, const std::string& sha256) {
  const KnownFile* known = find_known_file(sha256);
  return known == nullptr ? label : fmt::format("{} ({})", label, known->source);
}

ManifestFile write_weights(const fs::path& folder, const std::string& role,
                           const FoundModel& model) {
  const std::vector<std::byte> bytes = to_safetensors(model.weights);
  ManifestFile file;
  file.file = role + ".safetensors";
  file.role = role;
  file.kind = model.kind;
  file.bytes = bytes.size();
  file.sha256 = base::sha256_hex(bytes);
  file.licence = licence_of(model.kind, model.source_sha256, model.trust);
  file.source = source_of(model.label, model.source_sha256);
  file.source_sha256 = model.source_sha256;
  file.trust = trust_name(model.trust);
  for (const auto& [name, tensor] : model.weights) file.tensors[name] = tensor.shape();
  base::write_atomic(folder / file.file, bytes);
  return file;
}

// A name the manifest accepts.
std::string plain_name(std::string name) {
  for (char& c : name) {
    const bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '.' || c == '_' || c == '-';
    if (!ok) c = '_';
  }
  if (name.size() > 100) name.erase(0, name.size() - 100);
  if (name.front() == '.') name.front() = '_';
  return name;
}

ManifestFile write_plda(const fs::path& folder, const FoundPlda& plda) {
  ManifestFile file;
  file.file = plain_name(plda.file_name);
  file.role = "plda";
  file.kind = "plda";
  file.bytes = plda.bytes.size();
  file.sha256 = plda.sha256;
  file.licence = licence_of("plda", plda.sha256, plda.trust);
  file.source = source_of(plda.label, plda.sha256);
  file.source_sha256 = plda.sha256;
  file.trust = trust_name(plda.trust);
  for (const auto& [name, array] : plda.arrays) file.tensors[name] = array.shape;
  base::write_atomic(folder / file.file, plda.bytes);
  return file;
}

void require_all_permissions(const Parts& parts, bool allowed) {
  const auto require = [&](const std::string& label, const std::string& kind, Trust trust) {
    ModelFileReport report;
    report.kind = kind;
    report.trust = trust;
    require_permission(report, label, allowed);
  };
  require(parts.segmentation.label, parts.segmentation.kind, parts.segmentation.trust);
  require(parts.embedding.label, parts.embedding.kind, parts.embedding.trust);
  for (const FoundPlda& plda : parts.plda) require(plda.label, "plda", plda.trust);
}

}  // namespace

BundleReport import_files(const std::vector<fs::path>& inputs, const fs::path& plda,
                          const fs::path& models, bool allow_unknown_weights) {
  if (inputs.empty()) {
    base::fail(ErrorCode::kInvalidArgument, "nothing to import; name weight files or a folder");
  }
  const InstallLock lock(models);
  const Parts parts = gather(inputs, plda, models);
  require_all_permissions(parts, allow_unknown_weights);
  install_folder(models, parts.bundle, lock, [&](const fs::path& folder) {
    Manifest manifest;
    manifest.name = parts.bundle;
    manifest.files.push_back(write_weights(folder, "segmentation", parts.segmentation));
    manifest.files.push_back(write_weights(folder, "embedding", parts.embedding));
    for (const FoundPlda& file : parts.plda) manifest.files.push_back(write_plda(folder, file));
    base::write_atomic(folder / kManifestName, to_json_text(manifest));
  });
  return check_bundle(models, parts.bundle);
}

}  // namespace diarist::model
