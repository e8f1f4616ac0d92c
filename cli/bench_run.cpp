#include "bench_run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench_run_report.hpp"
#include "diarist/device_watch.hpp"
#include "diarist/diarizer.hpp"
#include "diarist/stages.hpp"
#include "engine_options.hpp"
#include "interrupt.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

enum class ReportFormat { kTable, kJson };

struct RunBenchArguments {
  std::vector<std::string> inputs;
  DiarizerOptions engine;
  RunOptions run;
  int repeat = 3;
  int warm_up = 1;
  std::string replay;
  ReportFormat format = ReportFormat::kTable;
};

// The first of these files that a folder has; the first name where it has none.
std::filesystem::path first_of(const std::filesystem::path& folder,
                               const std::vector<const char*>& names) {
  for (const char* name : names)
    if (std::filesystem::exists(folder / name)) return folder / name;
  return folder / names.front();
}

std::shared_ptr<const StageResults> load_replay(const std::filesystem::path& folder) {
  return std::make_shared<StageResults>(
      load_stages(first_of(folder, {"segmentations.npy", "segmentations.npz"}),
                  first_of(folder, {"embeddings.npy", "embeddings.npz", "raw_embeddings.npz"})));
}

rusage used() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

// Of all threads, those that have ended too.
double processor_seconds() {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  const rusage usage = used();
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double peak_bytes() { return 1024.0 * static_cast<double>(used().ru_maxrss); }

RunPass run_pass(const Diarizer& diarizer, const std::vector<std::filesystem::path>& files,
                 const RunOptions& options, const RunControl& control, DeviceWatch& watch,
                 EffectiveSettings& settings) {
  RunPass pass;
  std::optional<Error> failure;
  watch.start();
  const double before = processor_seconds();
  pass.report = diarizer.run_files(files, options, control, [&](FileOutcome outcome) {
    if (outcome.error) {
      const std::string what = outcome.error->what(), file = outcome.file.string();
      failure.emplace(outcome.error->code(),
                      what.starts_with(file + ":") ? what : fmt::format("{}: {}", file, what));
      return false;  // figures of a list with holes would mislead
    }
    pass.turns += static_cast<int>(outcome.result->turns.size());
    pass.speakers += static_cast<int>(outcome.result->speakers.size());
    if (outcome.index == 0) settings = outcome.result->settings;
    return true;
  });
  pass.processor_seconds = processor_seconds() - before;
  pass.loads = watch.stop();
  if (failure) throw Error(*failure);
  return pass;
}

int bench_run(RunBenchArguments arguments) {
  const InterruptGuard interrupt;
  RunControl control;
  control.stop = interrupt.token();
  if (!arguments.replay.empty()) arguments.run.replay = load_replay(arguments.replay);
  DeviceWatch watch(arguments.engine.device);
  RunBenchReport report{.files = static_cast<int>(arguments.inputs.size()),
                        .warm_up = arguments.warm_up,
                        .replay = arguments.replay};
  const auto start = std::chrono::steady_clock::now();
  const Diarizer diarizer = [&] {
    const InterruptGuard::Loading loading(interrupt);
    return Diarizer(arguments.engine);
  }();
  report.load_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::vector<std::filesystem::path> files(arguments.inputs.begin(), arguments.inputs.end());
  for (int i = 0; i < arguments.warm_up + arguments.repeat; ++i) {
    RunPass pass = run_pass(diarizer, files, arguments.run, control, watch, report.settings);
    if (i >= arguments.warm_up) report.passes.push_back(std::move(pass));
  }
  report.peak_bytes = peak_bytes();
  print(arguments.format == ReportFormat::kJson ? json_text(report) : table_text(report));
  return kOk;
}

}  // namespace

void add_run_bench(CLI::App& benches, Action& action) {
  const auto arguments = std::make_shared<RunBenchArguments>();
  CLI::App* command =
      benches.add_subcommand("run", "recordings to turns: speed, stages, idle share, power");
  command->add_option("audio", arguments->inputs, "recordings: WAV, FLAC, MP3, M4A, ...")
      ->required();
  add_engine_options(*command, arguments->engine, true);
  command
      ->add_option("--step", arguments->run.step_seconds,
                   "seconds between windows: 1, or 2 or 5 (quicker, less accurate)")
      ->capture_default_str();
  command->add_option("--repeat", arguments->repeat, "passes over the whole list")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--warm-up", arguments->warm_up, "passes before them that don't count")
      ->capture_default_str()
      ->check(CLI::Range(0, 100));
  command->add_option(
      "--replay", arguments->replay,
      "folder with segmentations and embeddings (.npy or .npz, as of `run "
      "--save-stages` with step 1): clustered, repeated to each recording's length, "
      "in place of what the networks said; for test weights");
  command->add_option("--format", arguments->format, "table (default) or json")
      ->transform(
          one_of<ReportFormat>({{"table", ReportFormat::kTable}, {"json", ReportFormat::kJson}}));
  command->footer(
      "Figures of a GPU count when it is quiet. Power is the mean over a pass, of all GPUs "
      "together; "
      "J/h is\nenergy per hour of audio.\n\n"
      "Examples:\n"
      "  diarist bench run --preset open meeting.wav\n"
      "  diarist bench run --device cuda --precision fast --repeat 5 hours/*.wav\n"
      "  diarist bench run --device cuda --replay stages --format json hours/*.wav");
  command->callback(
      [arguments, &action] { action = [arguments] { return bench_run(*arguments); }; });
}

}  // namespace diarist::cli
