#pragma once
// A bundle is a folder: manifest.json, safetensors files with folded weights, and perhaps a PLDA.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "diarist/models.hpp"
#include "model/networks.hpp"

namespace diarist::model {

/// f64 arrays of the PLDA archives as they lie in the files (models.md (d)).
struct PldaArrays {
  std::vector<double> mean1, lda, mean2, mu, tr, psi;
};

/// A loaded bundle: every name, type, shape and hash was checked.
struct Bundle {
  std::string name;  // "open", "community-1"
  std::filesystem::path folder;
  Weights segmentation;        // kind "pyannet"
  std::string embedding_kind;  // "wespeaker-resnet34" or "campplus"
  Weights embedding;
  std::optional<PldaArrays> plda;
  std::vector<ModelFileReport> files;
};

/// A preset: a bundle plus the way its embeddings are made and clustered.
struct Preset {
  std::string name;
  std::string bundle;
  std::string description;
  std::string embedding_kind;
  bool needs_plda = false;
  bool block_variant = false;  // open-lite
};

const std::vector<Preset>& presets();
/// \throws Error kInvalidArgument listing the known names.
const Preset& find_preset(const std::string& name);

/// Loads models/<name>. Hashes are compared with the manifest. Weights that are unknown or the test
/// stand-in are refused unless allowed. \throws Error kBadModel naming the cure.
Bundle load_bundle(const std::filesystem::path& models, const std::string& name,
                   bool allow_unknown_weights);

/// Only the PLDA of an installed bundle, for runs that need no networks.
/// \throws Error kBadModel naming the cure, also when the bundle has none.
PldaArrays load_plda(const std::filesystem::path& models, const std::string& name,
                     bool allow_unknown_weights = false);

/// Reports without (list) or with (check) reading the weights.
std::vector<BundleReport> list_bundles(const std::filesystem::path& models);
std::vector<BundleReport> check_bundles(const std::filesystem::path& models);

/// Like check_bundles for one name; a missing bundle gives a report with a problem.
BundleReport check_bundle(const std::filesystem::path& models, const std::string& name);

/// Recognizes, folds and installs files as a bundle in models/<name>; replaces an older one
/// atomically. \param plda folder or empty. Returns the report. \throws Error kBadModel, kNotFound.
BundleReport import_files(const std::vector<std::filesystem::path>& inputs,
                          const std::filesystem::path& plda, const std::filesystem::path& models,
                          bool allow_unknown_weights);

}  // namespace diarist::model
