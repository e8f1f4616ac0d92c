// diarist report: a page or a plot of turns that are known already.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "diarist/error.hpp"
#include "diarist/formats.hpp"
#include "diarist/waveform.hpp"
#include "interrupt.hpp"
#include "output_files.hpp"
#include "report_options.hpp"

namespace diarist::cli {
namespace {

struct ReportArguments {
  std::string turns;
  std::string audio;
  std::string id;
  ReportOutputs outputs;
};

// The recording that was asked for, or the only one.
Diarization chosen(std::vector<Diarization> results, const ReportArguments& arguments) {
  if (!arguments.id.empty()) {
    for (Diarization& result : results)
      if (result.uri == arguments.id) return std::move(result);
    throw Error(ErrorCode::kNotFound, fmt::format("{}: has no recording with the id '{}'",
                                                  arguments.turns, arguments.id));
  }
  if (results.empty())
    throw Error(ErrorCode::kBadFile, fmt::format("{}: holds no turns", arguments.turns));
  if (results.size() == 1) return std::move(results.front());
  std::string ids;
  for (const Diarization& result : results) {
    if (ids.size() > 200) break;
    if (!ids.empty()) ids += ", ";
    ids += result.uri;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: holds {} recordings; choose one with --id: {}", arguments.turns,
                          results.size(), ids));
}

int report(ReportArguments arguments) {
  if (!arguments.outputs.any())
    throw Error(ErrorCode::kInvalidArgument, "report writes files: name one with --out or --plot");
  check_report_outputs(arguments.outputs, false);
  refuse_shared_files({arguments.turns, arguments.audio},
                      report_files(arguments.outputs, {}, false));
  Diarization result = chosen(read_results(arguments.turns), arguments);
  const InterruptGuard interrupt;
  const RunControl control = talking_control(interrupt.token());
  if (!arguments.audio.empty()) {
    auto waveform = std::make_shared<Waveform>(read_waveform(arguments.audio, control));
    result.duration = waveform->duration;
    // What passes the end is shown as it stands in the file.
    double last = 0;
    for (const Turn& turn : result.turns) last = std::max(last, turn.end);
    if (last > result.duration + 1)
      warn(fmt::format("{} has turns until {:.1f} s, but {} ends at {:.1f} s", arguments.turns,
                       last, arguments.audio, result.duration));
    result.duration = std::max(result.duration, last);
    result.waveform = std::move(waveform);
  }
  write_reports(arguments.outputs, arguments.audio, false, result, control);
  return kOk;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand("report", "turns as a page to look at, or as a plot");
  command->add_option("turns", arguments->turns, "turns: JSON, RTTM, or what else `convert` reads")
      ->required()
      ->type_name("TURNS");
  command->add_option("audio", arguments->audio, "the recording, for the waveform and to listen")
      ->type_name("AUDIO");
  add_report_options(*command, arguments->outputs, "-o,--out");
  command->add_option("--id", arguments->id, "which recording, if the file holds several");
  command->add_option("--title", arguments->outputs.title, "heading, instead of the id");
  command->footer(
      "Examples:\n"
      "  diarist report meeting.rttm meeting.wav -o meeting.html\n"
      "  diarist report meeting.rttm meeting.mp3 -o meeting.html --embed-audio\n"
      "  diarist report all.rttm --id meeting --plot meeting.svg");
  command->callback([arguments, &action] { action = [arguments] { return report(*arguments); }; });
}

}  // namespace diarist::cli
