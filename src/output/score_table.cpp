// The report of a comparison for a terminal.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "output/aligned_lines.hpp"
#include "output/number_text.hpp"
#include "output/score_report.hpp"
#include "output/terminal_text.hpp"

namespace diarist {
namespace {

constexpr int kMostNameColumns = 40;

std::string name_text(const std::string& name) {
  return output::shown(name, kMostNameColumns, false);
}
std::string name_text(const std::optional<std::string>& name) {
  return name ? name_text(*name) : std::string("-");
}

std::string mapping_text(const ScoreReport& report) {
  std::vector<std::array<std::string, 6>> lines = {
      {"file", "reference", "hypothesis", "together s", "reference s", "hypothesis s"}};
  for (const FileScore& file : report.files) {
    for (const SpeakerPair& pair : file.mapping) {
      lines.push_back({name_text(file.uri), name_text(pair.reference), name_text(pair.hypothesis),
                       output::three_decimals(pair.seconds),
                       output::three_decimals(pair.reference_seconds),
                       output::three_decimals(pair.hypothesis_seconds)});
    }
  }
  return output::aligned_lines(lines, 3, 6);
}

}  // namespace

std::string to_table(const ScoreReport& report, const ScoringOptions& options, bool mapping) {
  std::vector<output::ScoreLine> lines = {output::score_header()};
  for (const FileScore& file : report.files) {
    lines.push_back(output::score_line(name_text(file.uri), file.score));
  }
  lines.push_back(output::score_line("total", report.total));
  std::string text = output::aligned_lines(lines, 1, 8);
  for (const std::string& remark : output::score_remarks(report, options)) text += remark + "\n";
  if (mapping) {
    text += "\n";
    text += mapping_text(report);
  }
  return text;
}

}  // namespace diarist
