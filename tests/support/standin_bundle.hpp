#pragma once
// The bundle "community-1" made of the stand-in weights (test weights, no speaker model), the real
// segmentation and the real PLDA. Needs the libraries of diarist::diarist.

#include <cstdlib>
#include <filesystem>

#include "diarist/models.hpp"
#include "support/support.hpp"

namespace diarist::test {

/// standin_resnet34.safetensors that `./dev` made ($DIARIST_TEST_STANDIN or .cache/standin); may
/// not exist.
inline std::filesystem::path standin_weights() {
  const char* file = std::getenv("DIARIST_TEST_STANDIN");
  if (file != nullptr && *file != '\0') return file;
  return models_folder().parent_path() / "standin" / "standin_resnet34.safetensors";
}

/// Imports the stand-in into a models folder; replaces what is there. The segmentation comes from
/// the bundle "open" in models_folder(), the PLDA from shared_folder(). \throws Error.
inline BundleReport install_standin_bundle(const std::filesystem::path& models) {
  return import_bundle({standin_weights(), models_folder() / "open" / "segmentation.safetensors"},
                       shared_folder() / "data" / "plda",
                       {.models = models, .allow_unknown_weights = true});
}

/// A models folder with the stand-in's bundle, installed when it is missing or damaged. Test
/// programs may ask for it at the same time. Loading it needs allow_unknown_weights.
inline std::filesystem::path standin_models() {
  const std::filesystem::path models = models_folder().parent_path() / "standin-models";
  for (const BundleReport& bundle : check_bundles(models)) {
    if (bundle.name == "community-1" && bundle.ok && bundle.presets.size() == 2) return models;
  }
  install_standin_bundle(models);
  return models;
}

}  // namespace diarist::test
