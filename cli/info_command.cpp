// diarist info: what this build and this machine can do.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>

#include "commands.hpp"
#include "diarist/info.hpp"
#include "diarist/models.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

int info(const std::string& models) {
  const BuildInfo build = build_info();
  std::string text = fmt::format("diarist {}\n\nPresets\n", version());
  for (const PresetInfo& preset : build.presets)
    text +=
        fmt::format("  {:<13} {} (bundle {})\n", preset.name, preset.description, preset.bundle);
  const std::filesystem::path folder =
      models.empty() ? default_models_folder() : std::filesystem::path(models);
  text += fmt::format("\nModels in {}\n", folder.string());
  const std::vector<BundleReport> bundles = list_bundles(folder);
  for (const BundleReport& bundle : bundles)
    text += fmt::format(
        "  {:<13} {}\n", bundle.name,
        bundle.ok ? fmt::format("serves {}", fmt::join(bundle.presets, ", ")) : bundle.problem);
  if (bundles.empty()) text += "  none; get the free ones with: diarist models pull open\n";
  text += fmt::format("\nDevices               {}\n", fmt::join(build.devices, ", "));
  text += fmt::format("Instruction sets      {} (best first; {} in this build)\n",
                      fmt::join(build.cpu_targets_supported, ", "),
                      fmt::join(build.cpu_targets_compiled, ", "));
  text += fmt::format("Audio through         {}\n", fmt::join(build.audio_readers, ", "));
  print(text);
  return kOk;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  auto models = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("info", "version, presets, models found, instruction sets, devices");
  command->add_option("--models", *models, "folder with the model bundles");
  command->callback([models, &action] { action = [models] { return info(*models); }; });
}

}  // namespace diarist::cli
