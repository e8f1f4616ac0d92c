// diarist run: recordings in, turns out.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "diarist/diarizer.hpp"
#include "diarist/error.hpp"
#include "diarist/stages.hpp"
#include "engine_options.hpp"
#include "interrupt.hpp"
#include "output_files.hpp"
#include "progress_line.hpp"

namespace diarist::cli {
namespace {

struct RunArguments {
  std::vector<std::string> inputs;
  DiarizerOptions engine;
  RunOptions run;
  bool exclusive = false;
  std::string out;
  std::optional<Format> format;
  std::string save_stages;
};

const char* ending(Format format) {
  switch (format) {
    case Format::kRttm:
      return "rttm";
    case Format::kJson:
      return "json";
    case Format::kTable:
      break;
  }
  return "txt";
}

// File names can't hold a slash; anything else an id may contain is kept.
std::string file_name(std::string id) {
  for (char& c : id)
    if (c == '/') c = '_';
  return id;
}

// One recording. \return false when standard output is gone.
bool run_one(const RunArguments& arguments, const Diarizer& diarizer, const std::string& input,
             const std::string& id, const std::stop_token& stop) {
  ProgressLine line(input);
  RunControl control;
  control.stop = stop;
  control.progress = [&](const Progress& progress) { line.show(progress); };
  control.log = [&](LogLevel level, std::string_view text) {
    if (level != LogLevel::kWarning) return;
    line.clear();
    const std::string start = one_line(input) + ": ";  // warnings about the file name it already
    if (text.starts_with(start)) text.remove_prefix(start.size());
    complain(fmt::format("{}: warning: {}", input, text));
  };
  Diarization result = diarizer.run(std::filesystem::path(input), arguments.run, control);
  line.clear();
  result.uri = id;
  if (!arguments.save_stages.empty()) {
    const std::filesystem::path folder(arguments.save_stages);
    save_stages(*result.stages, arguments.inputs.size() > 1 ? folder / file_name(id) : folder);
  }
  const Format format = arguments.format.value_or(Format::kRttm);
  const std::string text = format_result(result, format, arguments.exclusive);
  if (arguments.out.empty()) return print(text);
  write_file(
      std::filesystem::path(arguments.out) / fmt::format("{}.{}", file_name(id), ending(format)),
      text);
  return true;
}

int run(RunArguments arguments) {
  if (arguments.out.empty() && arguments.inputs.size() > 1 &&
      arguments.format.value_or(Format::kRttm) == Format::kJson)
    throw Error(ErrorCode::kInvalidArgument, "JSON of several recordings needs --out DIR");
  const InterruptGuard interrupt;
  arguments.run.keep_stages = !arguments.save_stages.empty();
  if (!arguments.out.empty()) {
    std::error_code error;
    std::filesystem::create_directories(arguments.out, error);
    if (error)
      throw Error(ErrorCode::kBadFile,
                  fmt::format("{}: can't make this folder: {}", arguments.out, error.message()));
  }
  const Diarizer diarizer(arguments.engine);
  const std::vector<std::string> ids = unique_ids(arguments.inputs);
  int failed = 0;
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i) {
    const std::string& input = arguments.inputs[i];
    try {
      if (!run_one(arguments, diarizer, input, ids[i], interrupt.token())) return kOk;
    } catch (const Error& error) {
      // Stopping and wrong options concern the whole call; everything else one recording.
      if (error.code() == ErrorCode::kInvalidArgument) throw;
      if (error.code() == ErrorCode::kCancelled)
        throw Error(ErrorCode::kCancelled, fmt::format("{}: stopped; {} of {} recordings done",
                                                       input, i, arguments.inputs.size()));
      const std::string what = error.what();
      const bool named = one_line(what).starts_with(one_line(input) + ":");
      complain(named ? what : fmt::format("{}: {}", input, what));
      ++failed;
    } catch (const std::bad_alloc&) {
      complain(fmt::format("{}: not enough memory", input));
      ++failed;
    }
  }
  return failed > 0 ? kSomeFailed : kOk;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "who spoke when in recordings");
  command->add_option("audio", arguments->inputs, "recordings: WAV, FLAC, MP3, M4A, ...")
      ->required();
  add_engine_options(*command, arguments->engine, true);
  add_speaker_options(*command, arguments->run);
  command->add_flag("--exclusive", arguments->exclusive,
                    "print turns with at most one speaker at a time");
  command
      ->add_option("--step", arguments->run.step_seconds,
                   "seconds between windows: 1, or 2 or 5 (quicker, less accurate)")
      ->capture_default_str();
  command->add_option("--out", arguments->out, "folder for one result file per recording");
  command->add_option("--format", arguments->format, "rttm (default), json or table")
      ->transform(one_of<Format>(
          {{"rttm", Format::kRttm}, {"json", Format::kJson}, {"table", Format::kTable}}));
  command->add_option(
      "--save-stages", arguments->save_stages,
      "folder for segmentations.npy, embeddings.npy, hard_clusters.npy, counts.npy");
  command->footer(
      "Examples:\n"
      "  diarist run meeting.wav\n"
      "  diarist run --format table --num-speakers 2 call.mp3\n"
      "  diarist run --out results --format json *.flac");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace diarist::cli
