#include "diarist/info.hpp"

#include <string>
#include <vector>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "capi/structs.hpp"
#include "diarist/diarist.h"

namespace diarist::capi {
namespace {

// Texts and the lists that lead to them; they live as long as the process.
struct InfoLists {
  BuildInfo build;
  std::vector<const char*> presets, devices, cpu_targets, audio_readers;
};

std::vector<const char*> pointers_of(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

const InfoLists& info_lists() {
  static const InfoLists* const kLists = [] {
    auto* made = new InfoLists;
    made->build = build_info();
    for (const PresetInfo& preset : made->build.presets)
      made->presets.push_back(preset.name.c_str());
    made->devices = pointers_of(made->build.devices);
    made->cpu_targets = pointers_of(made->build.cpu_targets_supported);
    made->audio_readers = pointers_of(made->build.audio_readers);
    return made;
  }();
  return *kLists;
}

}  // namespace
}  // namespace diarist::capi

using diarist::capi::guarded;
using diarist::capi::not_null;

extern "C" {

uint32_t diarist_abi_version(void) { return DIARIST_ABI_VERSION; }

const char* diarist_version(void) { return diarist::version(); }

diarist_status diarist_get_info(diarist_info* info) {
  return guarded([&] {
    const std::size_t size = not_null(info, "info").struct_size;
    diarist::capi::write_struct(info, size, {}, "diarist_info");
    const diarist::capi::InfoLists& lists = diarist::capi::info_lists();
    diarist::capi::write_struct(info, size,
                                {.struct_size = size,
                                 .version = diarist::version(),
                                 .presets = lists.presets.data(),
                                 .preset_count = lists.presets.size(),
                                 .devices = lists.devices.data(),
                                 .device_count = lists.devices.size(),
                                 .cpu_targets = lists.cpu_targets.data(),
                                 .cpu_target_count = lists.cpu_targets.size(),
                                 .audio_readers = lists.audio_readers.data(),
                                 .audio_reader_count = lists.audio_readers.size()},
                                "diarist_info");
  });
}

size_t diarist_open_handles(void) { return diarist::capi::count_handles(); }

}  // extern "C"
