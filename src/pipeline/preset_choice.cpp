#include "pipeline/preset_choice.hpp"

#include "base/error.hpp"
#include "diarist/models.hpp"

namespace diarist::pipeline {

std::filesystem::path models_folder(const std::filesystem::path& given) {
  return given.empty() ? default_models_folder() : given;
}

const model::Preset& choose_preset(const std::string& wish, const std::filesystem::path& models) {
  if (!wish.empty()) return model::find_preset(wish);
  const std::filesystem::path folder = models_folder(models);
  bool open = false;
  for (const BundleReport& bundle : model::list_bundles(folder)) {
    open = open || bundle.name == "open";
    for (const std::string& preset : bundle.presets)
      if (preset == "community-1") return model::find_preset(preset);
  }
  if (!open)
    base::fail(ErrorCode::kBadModel,
               "no models in {}; get the free ones with: diarist models pull open",
               folder.string());
  return model::find_preset("open");
}

}  // namespace diarist::pipeline
