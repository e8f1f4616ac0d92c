// The report of a comparison as a Markdown document and as comma-separated values.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "diarist/scoring.hpp"
#include "output/markup.hpp"
#include "output/number_text.hpp"
#include "output/score_report.hpp"

namespace diarist {
namespace {

using output::csv_field;
using output::json_number;
using output::markdown_text;

std::string name_text(const std::optional<std::string>& name) {
  return name ? markdown_text(*name) : std::string("-");
}

std::string markdown_line(const output::ScoreLine& line) {
  return fmt::format("| {} |\n", fmt::join(line, " | "));
}

std::string list_of(const char* heading, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = fmt::format("\n## {}\n\n", heading);
  for (const std::string& item : items) text += "- " + markdown_text(item) + "\n";
  return text;
}

std::string csv_line(const char* kind, const std::string& uri, const Score& score) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", kind, csv_field(uri),
                     json_number(score.der()), json_number(score.jer()), json_number(score.missed),
                     json_number(score.false_alarm), json_number(score.confusion),
                     json_number(score.correct), json_number(score.total), score.reference_speakers,
                     score.hypothesis_speakers, score.jer_speakers, score.nothing_scored());
}

}  // namespace

std::string to_markdown(const ScoreReport& report, const ScoringOptions& options, bool mapping) {
  std::string text = "# Diarization scores\n\n";
  for (const std::string& remark : output::score_remarks(report, options)) {
    text += "- " + markdown_text(remark) + "\n";
  }
  text += "\n## Recordings\n\n" + markdown_line(output::score_header()) +
          "|---|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const FileScore& file : report.files) {
    text += markdown_line(output::score_line(markdown_text(file.uri), file.score));
  }
  text += markdown_line(output::score_line("**total**", report.total));
  if (mapping) {
    text +=
        "\n## Speakers\n\n| file | reference | hypothesis | together s | reference s | hypothesis "
        "s |\n|---|---|---|---:|---:|---:|\n";
    for (const FileScore& file : report.files) {
      for (const SpeakerPair& pair : file.mapping) {
        text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", markdown_text(file.uri),
                            name_text(pair.reference), name_text(pair.hypothesis),
                            output::three_decimals(pair.seconds),
                            output::three_decimals(pair.reference_seconds),
                            output::three_decimals(pair.hypothesis_seconds));
      }
    }
  }
  return text + list_of("Missing in the hypothesis", report.missing) +
         list_of("Left out, not in the reference", report.extra) +
         list_of("Left out, not in the UEM", report.outside_uem) +
         list_of("Warnings", report.warnings);
}

std::string to_csv(const ScoreReport& report) {
  std::string text =
      "kind,uri,der,jer,missed,false_alarm,confusion,correct,total,reference_speakers,"
      "hypothesis_speakers,scored_speakers,nothing_scored\n";
  for (const FileScore& file : report.files) text += csv_line("file", file.uri, file.score);
  return text + csv_line("total", "", report.total);
}

}  // namespace diarist
