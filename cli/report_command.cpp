// diarist report: a page or a plot of turns that are known already.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
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
RttmFile::const_iterator chosen(const RttmFile& file, const ReportArguments& arguments) {
  if (!arguments.id.empty()) {
    const auto found = file.find(arguments.id);
    if (found == file.end())
      throw Error(ErrorCode::kNotFound, fmt::format("{}: has no recording with the id '{}'",
                                                    arguments.turns, arguments.id));
    return found;
  }
  if (file.size() == 1) return file.begin();
  if (file.empty())
    throw Error(ErrorCode::kBadFile, fmt::format("{}: holds no turns", arguments.turns));
  std::string ids;
  for (const auto& [id, turns] : file)
    if (ids.size() < 200) ids += (ids.empty() ? "" : ", ") + id;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: holds {} recordings; choose one with --id: {}", arguments.turns,
                          file.size(), ids));
}

bool in_time(const Turn& a, const Turn& b) {
  return std::tie(a.start, a.end, a.speaker) < std::tie(b.start, b.end, b.speaker);
}

// At most one speaker at a time: whoever started first goes on.
std::vector<Turn> one_at_a_time(const std::vector<Turn>& turns) {
  std::vector<Turn> exclusive;
  double last = 0;
  for (Turn turn : turns) {
    turn.start = std::max(turn.start, last);
    if (turn.end <= turn.start) continue;
    last = turn.end;
    exclusive.push_back(turn);
  }
  return exclusive;
}

Diarization result_of(const std::string& id, const std::vector<RttmTurn>& turns) {
  Diarization result;
  result.uri = id;
  std::map<std::string, int> speakers;
  for (const RttmTurn& turn : turns) speakers.emplace(turn.label, 0);
  for (auto& [name, number] : speakers) {
    number = static_cast<int>(result.speakers.size());
    result.speakers.push_back({.name = name, .speech_seconds = 0, .embedding = {}});
  }
  for (const RttmTurn& turn : turns) {
    if (!(turn.duration > 0)) continue;
    const int speaker = speakers.at(turn.label);
    result.turns.push_back({turn.start, turn.start + turn.duration, speaker});
    result.speakers[static_cast<std::size_t>(speaker)].speech_seconds += turn.duration;
  }
  std::sort(result.turns.begin(), result.turns.end(), in_time);
  result.exclusive_turns = one_at_a_time(result.turns);
  return result;
}

int report(ReportArguments arguments) {
  if (!arguments.outputs.any())
    throw Error(ErrorCode::kInvalidArgument, "report writes files: name one with --out or --plot");
  check_report_outputs(arguments.outputs, false);
  const RttmFile file = read_turns(arguments.turns);
  const auto recording = chosen(file, arguments);
  Diarization result = result_of(recording->first, recording->second);
  const InterruptGuard interrupt;
  const RunControl control = talking_control(interrupt.token());
  if (!arguments.audio.empty()) {
    auto waveform = std::make_shared<Waveform>(read_waveform(arguments.audio, control));
    result.duration = waveform->duration;
    const double last = result.turns.empty() ? 0 : result.turns.back().end;
    if (last > result.duration + 1)
      warn(fmt::format("{} has turns until {:.1f} s, but {} ends at {:.1f} s", arguments.turns,
                       last, arguments.audio, result.duration));
    // What passes the end is shown as it stands in the file.
    for (const Turn& turn : result.turns) result.duration = std::max(result.duration, turn.end);
    result.waveform = std::move(waveform);
  }
  write_reports(arguments.outputs, arguments.audio, false, result, control);
  return kOk;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand("report", "turns as a page to look at, or as a plot");
  command->add_option("turns", arguments->turns, "turns: RTTM or what `convert` reads")
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
