#pragma once
// manifest.json of a bundle: which files it has and what must be inside them.
//
// {
//   "format": "diarist-bundle", "format_version": 1, "name": "open",
//   "files": [ { "file": "segmentation.safetensors", "role": "segmentation", "kind": "pyannet",
//                "bytes": 5898112, "sha256": "...", "licence": "MIT", "source": "...",
//                "source_sha256": "...", "trust": "known hash",
//                "tensors": { "linear.0.weight": [128, 256], ... } }, ... ]
// }

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.hpp"

namespace diarist::model {

struct ManifestFile {
  std::string file;  // plain name inside the bundle's folder
  std::string role;  // "segmentation", "embedding", "plda"
  std::string kind;  // as in ModelFileReport
  std::uint64_t bytes = 0;
  std::string sha256;  // of the file in the bundle
  std::string licence;
  std::string source;         // where the weights came from, in words
  std::string source_sha256;  // of the file they were read from
  std::string trust;          // what the import found; checks judge anew and never rely on it
  std::map<std::string, base::Shape> tensors;
};

struct Manifest {
  std::string name;
  std::vector<ManifestFile> files;

  /// The files with a role, in manifest order.
  std::vector<const ManifestFile*> with_role(const std::string& role) const;
};

/// Checks types, sizes and names (no path separators, no duplicates, one segmentation, one
/// embedding). \throws Error kBadModel naming `source`.
Manifest parse_manifest(std::string_view text, const std::string& source);

/// The same manifest gives the same text.
std::string to_json_text(const Manifest& manifest);

}  // namespace diarist::model
