// diarist info: what this build and this machine can do, and which kernel runs a layer.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>

#include "commands.hpp"
#include "diarist/embedder.hpp"
#include "diarist/info.hpp"
#include "diarist/models.hpp"
#include "engine_options.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

struct InfoArguments {
  DiarizerOptions engine;
  bool choices = false, precision_given = false, kernel_only = false;
  std::string weights, tune_file;
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
  text += fmt::format("Audio through         {}\n", fmt::join(build.audio_readers, ", "));
  return text;
}

// What embed would run with the same options.
std::string choices_text(const InfoArguments& arguments) {
  EmbedderOptions options;
  options.preset = arguments.engine.preset;
  options.models = arguments.engine.models;
  options.weights = arguments.weights;
  options.allow_unknown_weights = arguments.engine.allow_unknown_weights;
  options.device = arguments.engine.device;
  if (arguments.precision_given) options.precision = arguments.engine.precision;
  options.threads = arguments.engine.threads;
  options.target = arguments.engine.target;
  options.kernel_only = arguments.kernel_only;
  options.tune_file = arguments.tune_file;
  const EmbedderInfo info = Embedder(options).info();
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
  print(arguments.choices ? choices_text(arguments) : build_text(arguments.engine.models));
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
  add_engine_options(*command, arguments->engine, true);
  command->get_option("--device")
      ->description("cpu, reference (slow, double precision), or a GPU: cuda, cuda:N");
  command
      ->add_option("--weights", arguments->weights,
                   "a bundle's folder or a weight file, instead of a preset")
      ->excludes("--preset");
  command->add_option("--tune-file", arguments->tune_file, "GPUs: choices measured before");
  command->add_flag("--kernel-only", arguments->kernel_only,
                    "GPUs: use no vendor library; a layer without an own kernel is an error");
  command->callback([arguments, command, &action] {
    arguments->precision_given = command->count("--precision") > 0;
    action = [arguments] { return info(*arguments); };
  });
}

}  // namespace diarist::cli
