#include "diarist/info.hpp"

#include "audio/source.hpp"
#include "backend/registry.hpp"
#include "model/bundle.hpp"

namespace diarist {

const char* version() noexcept { return DIARIST_VERSION; }

BuildInfo build_info() {
  BuildInfo info;
  for (const model::Preset& preset : model::presets())
    info.presets.push_back({preset.name, preset.bundle, preset.description});
  info.cpu_targets_supported = backend::cpu_targets_supported();
  info.cpu_targets_compiled = backend::cpu_targets_compiled();
  info.cpu_bf16_supported = backend::cpu_bf16_supported();
  info.devices = backend::device_names();
  info.audio_readers = audio::reader_names();
  return info;
}

}  // namespace diarist
