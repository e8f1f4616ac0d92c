// diarist run: recordings in, turns out.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "diarist/diarizer.hpp"
#include "diarist/error.hpp"
#include "dry_run.hpp"
#include "engine_options.hpp"
#include "input_options.hpp"
#include "interrupt.hpp"
#include "manners.hpp"
#include "output_files.hpp"
#include "progress_line.hpp"
#include "run_results.hpp"
#include "work_done.hpp"

namespace diarist::cli {
namespace {

struct RunArguments {
  std::vector<std::string> inputs;
  DiarizerOptions engine;
  RunOptions run;
  ResultOptions results;
  bool timings = false;
};

// One after the other, each with its own line of progress. \return false when standard output is
// gone.
bool run_each(const RunArguments& arguments, const Diarizer& diarizer, const std::stop_token& stop,
              Results& results, RunReport& report) {
  ProgressLine line(arguments.inputs);
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i) {
    const std::string& input = arguments.inputs[i];
    line.start(i);
    RunControl control;
    control.stop = stop;
    control.progress = [&](const Progress& progress) { line.show(progress); };
    control.log = [&](LogLevel level, std::string_view text) {
      if (level != LogLevel::kWarning) return;
      line.clear();
      warn(text, input);
    };
    try {
      Diarization result = diarizer.run(std::filesystem::path(input), arguments.run, control);
      line.clear();
      report.audio_seconds += result.duration;
      report.stages += result.timings;
      const double seconds = result.duration;
      if (!results.write(i, std::move(result))) return false;
      line.finish(i, seconds);
    } catch (const Error& error) {
      line.clear();
      results.refuse(i, error);
      line.fail(i);
    } catch (const std::bad_alloc&) {
      line.clear();
      results.refuse(i, Error(ErrorCode::kOutOfMemory, "not enough memory"));
      line.fail(i);
    }
  }
  return true;
}

// All at once, on GPUs. \return false when standard output is gone.
bool run_together(const RunArguments& arguments, const Diarizer& diarizer,
                  const std::stop_token& stop, Results& results, RunReport& report) {
  ProgressLine line(arguments.inputs);
  RunControl control;
  control.stop = stop;
  control.progress = [&](const Progress& progress) { line.show(progress); };
  control.log = [&](LogLevel level, std::string_view text) {
    if (level != LogLevel::kWarning) return;
    line.clear();
    warn(text);
  };
  const std::vector<std::filesystem::path> files(arguments.inputs.begin(), arguments.inputs.end());
  bool reader = true;
  report = diarizer.run_files(files, arguments.run, control, [&](FileOutcome outcome) {
    line.clear();
    if (outcome.error) {
      results.refuse(outcome.index, *outcome.error);
      line.fail(outcome.index);
      return true;
    }
    try {
      const double seconds = outcome.result->duration;
      reader = results.write(outcome.index, *std::move(outcome.result));
      line.finish(outcome.index, seconds);
    } catch (const Error& error) {
      results.refuse(outcome.index, error);
      line.fail(outcome.index);
    }
    return reader;
  });
  return reader;
}

// Seconds per stage on standard error.
void show_timings(const RunReport& report, double load_seconds) {
  const StageTimings& t = report.stages;
  std::string text =
      fmt::format("timings: load {:.3f} s, run {:.3f} s, {:.0f} s of audio, {:.0f} x real time\n",
                  load_seconds, report.seconds, report.audio_seconds,
                  report.seconds > 0 ? report.audio_seconds / report.seconds : 0);
  text += fmt::format(
      "  decode {:.3f} s, upload {:.3f} s, features {:.3f} s, segmentation {:.3f} s, embedding "
      "{:.3f} s, clustering {:.3f} s, output {:.3f} s\n",
      t.decode, t.upload, t.features, t.segmentation, t.embedding, t.clustering, t.output);
  for (const DeviceReport& device : report.devices)
    text += fmt::format(
        "  {}: busy {:.3f} s of {:.3f} s, idle {:.1f} %, {:.2f} GB held; its thread waited {:.3f} "
        "s "
        "for it and {:.3f} s for samples\n",
        device.name, device.busy, device.wall,
        device.wall > 0 ? 100 * (1 - device.busy / device.wall) : 0,
        static_cast<double>(device.memory_bytes) / 1e9, device.waited_for_device,
        device.waited_for_samples);
  text.pop_back();  // note() ends the line
  note(text);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(RunArguments arguments) {
  const InterruptGuard interrupt;
  arguments.run.keep_stages = !arguments.results.save_stages.empty();
  arguments.run.keep_waveform = arguments.results.reports.any();
  load_voices(arguments.results.voices);
  Results results(arguments.inputs, arguments.results);
  const auto start = std::chrono::steady_clock::now();
  const Diarizer diarizer = [&] {
    const InterruptGuard::Loading loading(interrupt);
    return Diarizer(arguments.engine);
  }();
  const double load_seconds = seconds_since(start);
  check_voices(arguments.results.voices, diarizer.preset(), arguments.engine.models.string());
  if (manners().dry_run)
    return dry_run(diarizer, arguments.engine.device, arguments.inputs, arguments.run,
                   [&](std::size_t i) { return results.targets(i); });
  const std::string& out = arguments.results.place.out;
  expect_work(arguments.inputs.size(),
              out.empty() || out == "-" ? "on standard output" : "in " + out);
  RunReport report;
  const auto run_start = std::chrono::steady_clock::now();
  const bool gpu = arguments.engine.device.starts_with("cuda");
  const bool reader =
      (gpu ? run_together : run_each)(arguments, diarizer, interrupt.token(), results, report);
  report.seconds = seconds_since(run_start);
  if (reader) results.finish();
  if (arguments.timings) show_timings(report, load_seconds);
  return reader && results.failed() > 0 ? kSomeFailed : kOk;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "who spoke when in recordings");
  command
      ->add_option("audio", arguments->inputs,
                   "recordings: WAV, FLAC, MP3, M4A, ...; - for standard input")
      ->required();
  add_engine_options(*command, arguments->engine, true);
  add_speaker_options(*command, arguments->run);
  add_input_options(*command, arguments->run.audio, true);
  command
      ->add_option("--step", arguments->run.step_seconds,
                   "seconds between windows: 1, or 2 or 5 (quicker, less accurate)")
      ->capture_default_str();
  add_result_options(*command, arguments->results);
  command->add_flag("--timings", arguments->timings,
                    "seconds per stage, and of GPUs the idle share, on standard error");
  command->footer(
      "Examples:\n"
      "  diarist run meeting.wav\n"
      "  diarist run --format table --num-speakers 2 call.mp3\n"
      "  diarist run --out results --format json,textgrid *.flac\n"
      "  diarist run --out meeting.srt --names Anna,Ben --merge-gap 1 meeting.m4a\n"
      "  diarist run --report meeting.html meeting.wav\n"
      "  diarist run --voices team.voices meeting.wav\n"
      "  arecord -f S16_LE -r 16000 -c 2 | diarist run --split-channels -\n"
      "  diarist run --track 2 --from 5:00 --to 1:05:00 film.mkv\n"
      "  diarist run --device cuda --precision fast --out results archive/*.wav");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace diarist::cli
