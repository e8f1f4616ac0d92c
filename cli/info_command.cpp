// diarist info: what this build and this machine can do, and which kernel runs a layer.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>

#include "commands.hpp"
#include "diarist/info.hpp"
#include "diarist/models.hpp"
#include "embedder_options.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

struct InfoArguments {
  EmbedderArguments embedder;
  bool choices = false;
};

std::string build_text(const std::filesystem::path& models) {
  const BuildInfo build = build_info();
  std::string text = fmt::format("diarist {}\n\nPresets\n", version());
  for (const PresetInfo& preset : build.presets)
    text +=
        fmt::format("  {:<13} {} (bundle {})\n", preset.name, preset.description, preset.bundle);
  const std::filesystem::path folder = models.empty() ? default_models_folder() : models;
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
  text += fmt::format("bf16 products         {}\n",
                      build.cpu_bf16_supported.empty()
                          ? "none on this processor: --precision fast needs a GPU"
                          : fmt::format("{} (for --precision fast; best first)",
                                        fmt::join(build.cpu_bf16_supported, ", ")));
  text += fmt::format("Audio through         {}\n", fmt::join(build.audio_readers, ", "));
  return text;
}

// What embed would run with the same options.
std::string choices_text(const InfoArguments& arguments) {
  const EmbedderInfo info = Embedder(embedder_options(arguments.embedder)).info();
  constexpr double kMegabyte = 1e6;
  std::string text = fmt::format(
      "Network               {}\nWeights               {}\nDevice                {}, {}\n"
      "Log-mel rows on       {}\nPrecision             {}\nBatch                 {}\n"
      "Plans                 {}\nBuffers               {:.1f} MB\nWorkspace             {:.1f} MB\n"
      "\n",
      info.network, info.weights, info.device, info.kernels, info.features_device, info.precision,
      info.batch, info.plans, static_cast<double>(info.buffer_bytes) / kMegabyte,
      static_cast<double>(info.workspace_bytes) / kMegabyte);
  for (const LayerChoice& layer : info.layers)
    text += fmt::format("{:<28} {:<24} {}\n", layer.layer, layer.kernel, layer.reason);
  return text;
}

int info(const InfoArguments& arguments) {
  print(arguments.choices ? choices_text(arguments) : build_text(arguments.embedder.engine.models));
  return kOk;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<InfoArguments>();
  CLI::App* command =
      app.add_subcommand("info", "version, presets, models found, instruction sets, devices");
  command->add_flag("--choices", arguments->choices,
                    "the kernel of every layer of the speaker embedding with the reason, for the "
                    "options below");
  add_embedder_options(*command, arguments->embedder);
  command->callback([arguments, &action] { action = [arguments] { return info(*arguments); }; });
}

}  // namespace diarist::cli
