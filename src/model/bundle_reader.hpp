#pragma once
// Reads a bundle's folder: what load_bundle(), check_bundles() and import_files() share.

#include <filesystem>
#include <map>
#include <string>

#include "base/npy.hpp"
#include "model/bundle.hpp"
#include "model/manifest.hpp"

namespace diarist::model {

inline constexpr const char* kManifestName = "manifest.json";

/// \throws Error kBadModel (missing: names the cure; damaged).
Manifest read_manifest(const std::filesystem::path& folder);

/// The report a manifest alone can give; nothing was read, trust is what the import found.
ModelFileReport report_of(const ManifestFile& file);

/// A weight file with its size, hash, names and shapes compared with the manifest, checked and
/// judged by its content. \throws Error kBadModel, kBadFile.
Weights read_weights(const std::filesystem::path& folder, const ManifestFile& file,
                     ModelFileReport& report);

/// A PLDA file, likewise; its arrays are added to `arrays`.
void read_plda(const std::filesystem::path& folder, const ManifestFile& file,
               std::map<std::string, base::NpyArray>& arrays, ModelFileReport& report);

/// Names of the presets that a bundle with these models can serve.
std::vector<std::string> served_presets(const std::string& bundle,
                                        const std::string& embedding_kind, bool has_plda);

/// \throws Error kBadModel when weights need permission and have none.
void require_permission(const ModelFileReport& report, const std::string& where, bool allowed);

}  // namespace diarist::model
