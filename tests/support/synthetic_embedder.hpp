#pragma once
// Embedders on weights that follow from tensor names: no models need to be installed.

#include <filesystem>
#include <map>
#include <string>

#include "base/file.hpp"
#include "diarist/embedder.hpp"
#include "support/support.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {

/// A weight file under the published names, batch norms folded or not. Written once per program.
inline const std::filesystem::path& synthetic_weight_file(const std::string& kind,
                                                          bool folded = true) {
  static const TempFolder folder;
  static std::map<std::string, std::filesystem::path> files;
  std::filesystem::path& file = files[kind + (folded ? ".folded" : "")];
  if (file.empty()) {
    file = folder.path() / (kind + (folded ? ".folded.safetensors" : ".safetensors"));
    base::write_atomic(
        file, model::to_safetensors(folded ? synthetic_weights(kind) : synthetic_checkpoint(kind)));
  }
  return file;
}

/// Options for them; the device and the rest are the defaults.
inline EmbedderOptions synthetic_embedder(const std::string& kind = "wespeaker-resnet34") {
  EmbedderOptions options;
  options.weights = synthetic_weight_file(kind);
  options.allow_unknown_weights = true;
  return options;
}

}  // namespace diarist::test
