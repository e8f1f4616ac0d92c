// The presets: names that users pick, each a bundle and a way to use it.

#include "base/error.hpp"
#include "model/bundle.hpp"

namespace diarist::model {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> kPresets = {
      {.name = "open",
       .bundle = "open",
       .description = "segmentation-3.0 + CAM++; weights that anyone may fetch",
       .embedding_kind = "campplus"},
      {.name = "open-lite",
       .bundle = "open",
       .description = "as open with a tenth of the embedding work, slightly less accurate",
       .embedding_kind = "campplus",
       .block_variant = true},
      {.name = "community-1",
       .bundle = "community-1",
       .description = "segmentation-3.0 + WeSpeaker ResNet34 + PLDA, clustered with VBx",
       .embedding_kind = "wespeaker-resnet34",
       .needs_plda = true},
      {.name = "pyannote-3.1",
       .bundle = "community-1",
       .description = "segmentation-3.0 + WeSpeaker ResNet34, clustered as pyannote 3.1 does",
       .embedding_kind = "wespeaker-resnet34"},
  };
  return kPresets;
}

const Preset& find_preset(const std::string& name) {
  std::string known;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    known += (known.empty() ? "" : ", ") + preset.name;
  }
  base::fail(ErrorCode::kInvalidArgument, "preset '{}' is not known; use one of: {}", name, known);
}

}  // namespace diarist::model
