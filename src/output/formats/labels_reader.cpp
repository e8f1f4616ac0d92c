#include <fmt/format.h>

#include <optional>

#include "base/error.hpp"
#include "output/formats/escapes.hpp"
#include "output/formats/fields.hpp"
#include "output/formats/readers.hpp"

namespace diarist::output {
namespace {

double seconds_or_fail(std::string_view text, const std::string& place) {
  const std::optional<double> value = seconds_from(text);
  if (!value) {
    base::fail(ErrorCode::kBadFile, "{}: {} is no number of seconds >= 0; correct it", place,
               output::quoted(text));
  }
  return *value;
}

}  // namespace

Results results_of_audacity(std::string_view text, const Source& source) {
  std::vector<NamedTurn> turns;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    // A line with a backslash holds the frequencies of the label above it.
    if (trimmed(line).empty() || line.starts_with('\\')) continue;
    const std::string place = fmt::format("{}, line {}", source.name, number);
    const std::size_t first = line.find('\t');
    const std::size_t second = first == std::string_view::npos ? first : line.find('\t', first + 1);
    if (second == std::string_view::npos) {
      base::fail(ErrorCode::kBadFile,
                 "{}: a label has a start, an end and a text with tabs between; correct the line",
                 place);
    }
    const double start = seconds_or_fail(trimmed(line.substr(0, first)), place);
    const double end = seconds_or_fail(trimmed(line.substr(first + 1, second - first - 1)), place);
    check_times(start, end, place);
    turns.push_back({start, end, unescaped(line.substr(second + 1), kLineText)});
  }
  return {result_of(source.uri, turns)};
}

Results results_of_lab(std::string_view text, const Source& source) {
  std::vector<NamedTurn> turns;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::vector<std::string_view> fields = split_fields(take_line(text));
    if (fields.empty()) continue;
    const std::string place = fmt::format("{}, line {}", source.name, number);
    if (fields.size() != 3) {
      base::fail(ErrorCode::kBadFile,
                 "{}: a line has a start, an end and a label (a space inside it as %20) and this "
                 "has {} fields; correct the line",
                 place, fields.size());
    }
    const double start = seconds_or_fail(fields[0], place);
    const double end = seconds_or_fail(fields[1], place);
    check_times(start, end, place);
    turns.push_back({start, end, decode_field(fields[2])});
  }
  return {result_of(source.uri, turns)};
}

}  // namespace diarist::output
