// A diff as JSON and as a table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "diarist/turn_diff.hpp"
#include "output/aligned_lines.hpp"
#include "output/json_text.hpp"
#include "output/number_text.hpp"
#include "output/terminal_text.hpp"

namespace diarist {
namespace {

using output::json_number;
using output::json_string;

constexpr int kSchemaVersion = 1;
constexpr int kMostNameColumns = 40;

std::size_t listed(const DiffReport& report, std::size_t most) {
  return most == 0 ? report.changes.size() : std::min(most, report.changes.size());
}

std::string name_json(const std::optional<std::string>& name) {
  return name ? json_string(*name) : std::string("null");
}

std::string strings_json(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(json_string(text));
  return output::json_list(items, 2);
}

std::string seconds_json(double same, const std::array<double, kChangeKinds>& seconds) {
  std::string text = fmt::format(R"({{"same": {})", json_number(same));
  for (std::size_t kind = 0; kind < kChangeKinds; ++kind) {
    text += fmt::format(R"(, "{}": {})", name_of(static_cast<ChangeKind>(kind)),
                        json_number(seconds[kind]));
  }
  return text + "}";
}

std::string recording_json(const RecordingDiff& diff) {
  std::vector<std::string> pairs;
  for (const SpeakerPair& pair : diff.mapping) {
    pairs.push_back(fmt::format(R"({{"before": {}, "after": {}, "seconds": {}}})",
                                name_json(pair.reference), name_json(pair.hypothesis),
                                json_number(pair.seconds)));
  }
  return fmt::format(R"({{"uri": {}, "speakers_before": {}, "speakers_after": {}, "seconds": {}, )"
                     R"("mapping": [{}]}})",
                     json_string(diff.uri), diff.speakers_before, diff.speakers_after,
                     seconds_json(diff.same, diff.seconds), fmt::join(pairs, ", "));
}

std::string name_text(const std::optional<std::string>& name) {
  return name ? output::shown(*name, kMostNameColumns, false) : std::string("-");
}

}  // namespace

std::string to_json(const DiffReport& report, const DiffOptions& options, std::size_t most) {
  std::vector<std::string> recordings;
  for (const RecordingDiff& diff : report.recordings) recordings.push_back(recording_json(diff));
  std::vector<std::string> changes;
  for (std::size_t i = 0; i < listed(report, most); ++i) {
    const TurnChange& change = report.changes[i];
    changes.push_back(fmt::format(
        R"({{"uri": {}, "kind": "{}", "start": {}, "end": {}, "before": {}, "after": {}}})",
        json_string(change.uri), name_of(change.kind), json_number(change.start),
        json_number(change.end), name_json(change.before), name_json(change.after)));
  }
  return fmt::format(R"({{
  "format": "diarist.diff",
  "version": {},
  "engine": "{}",
  "min_seconds": {},
  "by_name": {},
  "identical": {},
  "seconds": {},
  "recordings": {},
  "changes": {},
  "changes_in_all": {},
  "only_before": {},
  "only_after": {},
  "warnings": {}
}}
)",
                     kSchemaVersion, DIARIST_VERSION, json_number(options.min_seconds),
                     options.by_name, report.changes.empty(),
                     seconds_json(report.same, report.seconds), output::json_list(recordings, 2),
                     output::json_list(changes, 2), report.changes.size(),
                     strings_json(report.only_before), strings_json(report.only_after),
                     strings_json(report.warnings));
}

std::string to_table(const DiffReport& report, std::size_t most) {
  const auto seconds = [&](ChangeKind kind) {
    return output::three_decimals(report.seconds[static_cast<std::size_t>(kind)]);
  };
  std::string text = fmt::format(
      "seconds: speaker changed {}, appeared {}, vanished {}, boundary moved {}; the same {}\n",
      seconds(ChangeKind::kSpeaker), seconds(ChangeKind::kAppeared), seconds(ChangeKind::kVanished),
      seconds(ChangeKind::kBoundary), output::three_decimals(report.same));
  if (report.changes.empty()) return text + "no difference\n";

  using Line = std::array<std::string, 7>;
  std::vector<Line> lines = {{"start", "end", "seconds", "kind", "before", "after", "recording"}};
  for (std::size_t i = 0; i < listed(report, most); ++i) {
    const TurnChange& change = report.changes[i];
    lines.push_back({output::clock_text(output::rounded_milliseconds(change.start)),
                     output::clock_text(output::rounded_milliseconds(change.end)),
                     output::three_decimals(change.seconds()), name_of(change.kind),
                     name_text(change.before), name_text(change.after), name_text(change.uri)});
  }
  text += output::aligned_lines(lines, 0, 3);
  const std::size_t rest = report.changes.size() - listed(report, most);
  if (rest > 0) text += fmt::format("and {} shorter ones\n", rest);
  return text;
}

}  // namespace diarist
