// The report of a comparison as JSON and as a table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "diarist/scoring.hpp"
#include "output/json_text.hpp"
#include "output/number_text.hpp"
#include "output/terminal_text.hpp"

namespace diarist {
namespace {

using output::json_number;

constexpr int kSchemaVersion = 1;

std::string score_json(const std::string& head, const Score& score) {
  return fmt::format(
      R"({{{}"der": {}, "jer": {}, "missed": {}, "false_alarm": {}, "confusion": {}, )"
      R"("correct": {}, "total": {}, "reference_speakers": {}, "hypothesis_speakers": {}, )"
      R"("scored_speakers": {}, "nothing_scored": {}}})",
      head, json_number(score.der()), json_number(score.jer()), json_number(score.missed),
      json_number(score.false_alarm), json_number(score.confusion), json_number(score.correct),
      json_number(score.total), score.reference_speakers, score.hypothesis_speakers,
      score.jer_speakers, score.nothing_scored());
}

// Cells of one line: name, DER, JER, parts in per cent of the scored speech, scored seconds,
// speakers.
using Line = std::array<std::string, 8>;

std::string per_cent(double part) { return fmt::format("{:.2f}", 100 * part); }

Line line_of(const std::string& name, const Score& score) {
  const std::string speakers =
      fmt::format("{}/{}", score.reference_speakers, score.hypothesis_speakers);
  if (score.nothing_scored()) return {name, "-", "-", "-", "-", "-", "nothing", speakers};
  const auto part = [&](double seconds) {
    return score.total > 0 ? per_cent(seconds / score.total) : std::string("-");
  };
  return {name,
          per_cent(score.der()),
          per_cent(score.jer()),
          part(score.missed),
          part(score.false_alarm),
          part(score.confusion),
          output::three_decimals(score.total),
          speakers};
}

}  // namespace

std::string to_json(const ScoreReport& report, const ScoringOptions& options) {
  std::vector<std::string> files;
  for (const FileScore& file : report.files) {
    files.push_back(
        score_json(fmt::format(R"("uri": {}, )", output::json_string(file.uri)), file.score));
  }
  std::vector<std::string> warnings;
  for (const std::string& warning : report.warnings) {
    warnings.push_back(output::json_string(warning));
  }
  return fmt::format(R"({{
  "format": "diarist.score",
  "version": {},
  "engine": "{}",
  "collar": {},
  "skip_overlap": {},
  "files": {},
  "total": {},
  "warnings": {}
}}
)",
                     kSchemaVersion, DIARIST_VERSION, json_number(options.collar),
                     options.skip_overlap, output::json_list(files, 2),
                     score_json("", report.total), output::json_list(warnings, 2));
}

std::string to_table(const ScoreReport& report, const ScoringOptions& options) {
  std::vector<Line> lines = {
      {"file", "DER %", "JER %", "missed %", "false %", "confused %", "scored s", "speakers"}};
  constexpr int kMostNameColumns = 40;
  int right_counts = 0;
  for (const FileScore& file : report.files) {
    lines.push_back(line_of(output::shown(file.uri, kMostNameColumns, false), file.score));
    right_counts += file.score.reference_speakers == file.score.hypothesis_speakers ? 1 : 0;
  }
  lines.push_back(line_of("total", report.total));

  std::array<int, std::tuple_size_v<Line>> widths{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], output::text_width(line[i]));
    }
  }
  std::string text;
  for (const Line& line : lines) {
    text += output::pad_right(line[0], widths[0]);
    for (std::size_t i = 1; i < line.size(); ++i) {
      text += "  " + output::pad_left(line[i], widths[i]);
    }
    text += "\n";
  }
  const Score& total = report.total;
  text += fmt::format(
      "seconds: missed {}, false alarm {}, confused {}, correct {}; collar {} s on each side, "
      "overlap {}\n",
      output::three_decimals(total.missed), output::three_decimals(total.false_alarm),
      output::three_decimals(total.confusion), output::three_decimals(total.correct),
      json_number(options.collar), options.skip_overlap ? "left out" : "scored");
  return text + fmt::format("speakers (reference/hypothesis): number right in {} of {} {}\n",
                            right_counts, report.files.size(),
                            report.files.size() == 1 ? "file" : "files");
}

}  // namespace diarist
