#include <fmt/format.h>

#include <iterator>

#include "output/formats/writers.hpp"

namespace diarist::output {
namespace {

// As RFC 4180: quoted where it must be; blanks at the ends too, which some readers drop.
std::string cell(std::string_view text, char delimiter) {
  const bool plain = !text.empty() && text.find_first_of("\"\r\n") == std::string_view::npos &&
                     text.find(delimiter) == std::string_view::npos && text.front() != ' ' &&
                     text.back() != ' ' && text.front() != '\t' && text.back() != '\t';
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string rows(const Diarization& result, std::string_view header, char delimiter) {
  std::string text(header);
  const std::string uri = cell(result.uri, delimiter);
  for_each_turn(result, [&](std::int64_t start, std::int64_t end, const std::string& name) {
    fmt::format_to(std::back_inserter(text), "{1}{0}{2}{0}{3}{0}{4}\n", delimiter, uri,
                   milliseconds_text(start), milliseconds_text(end), cell(name, delimiter));
  });
  return text;
}

}  // namespace

std::string csv_text(const Diarization& result) { return rows(result, kCsvHeader, ','); }
std::string tsv_text(const Diarization& result) { return rows(result, kTsvHeader, '\t'); }

}  // namespace diarist::output
