// What kind of text is this?

#include <algorithm>

#include "output/formats/fields.hpp"
#include "output/formats/readers.hpp"
#include "output/formats/unicode.hpp"

namespace diarist::output {
namespace {

bool is_seconds(std::string_view text) { return seconds_from(trimmed(text)).has_value(); }

bool is_table_header(std::string_view line) {
  const std::string name = lower_case(line);
  return name.find("start") != std::string::npos &&
         name.find_first_of(",;\t") != std::string::npos &&
         (name.find("end") != std::string::npos || name.find("duration") != std::string::npos);
}

bool is_label(std::string_view line) {
  const std::size_t first = line.find('\t');
  if (first == std::string_view::npos) return false;
  const std::size_t second = line.find('\t', first + 1);
  return second != std::string_view::npos && is_seconds(line.substr(0, first)) &&
         is_seconds(line.substr(first + 1, second - first - 1));
}

}  // namespace

Format format_of_content(std::string_view text) {
  const std::string_view start = trimmed(text.substr(0, 4096));
  if (start.starts_with("WEBVTT")) return Format::kVtt;
  if (start.starts_with('<')) return Format::kElan;
  if (start.starts_with('{')) {
    // The key stands first in pyannote's own files; in others it is looked for in the whole text.
    return text.find("\"pyannote\"") != std::string_view::npos &&
                   text.find("\"diarist.diarization\"") == std::string_view::npos
               ? Format::kPyannote
               : Format::kJson;
  }
  if (start.find("ooTextFile") != std::string_view::npos) return Format::kTextGrid;
  std::string_view rest = start;
  std::string_view line = take_line(rest);
  while (trimmed(line).empty() && !rest.empty()) line = take_line(rest);
  std::string_view second = rest;
  second = take_line(second);
  if (line.find("-->") != std::string_view::npos || second.find("-->") != std::string_view::npos) {
    return Format::kSrt;
  }
  if (is_label(line)) return Format::kAudacity;
  const std::vector<std::string_view> fields = split_fields(line);
  if (fields.size() == 3 && is_seconds(fields[0]) && is_seconds(fields[1])) return Format::kLab;
  if (is_table_header(line)) {
    return line.find('\t') != std::string_view::npos ? Format::kTsv : Format::kCsv;
  }
  return Format::kRttm;
}

}  // namespace diarist::output
