// An Annotation as pyannote.core wrote it up to version 4 (pyannote.core.json).

#include <fmt/format.h>

#include "output/formats/writers.hpp"
#include "output/json_text.hpp"

namespace diarist::output {

std::string pyannote_text(const Diarization& result) {
  std::vector<std::string> lines;
  for_each_turn(result, [&](std::int64_t start, std::int64_t end, const std::string& name) {
    // A track of its own for every turn: two speakers may share a stretch.
    lines.push_back(fmt::format(
        R"({{"segment": {{"start": {}, "end": {}}}, "track": "{}", "label": {}}})",
        milliseconds_text(start), milliseconds_text(end), lines.size(), json_string(name)));
  });
  // As there, an empty uri is left out.
  const std::string uri =
      result.uri.empty() ? "" : fmt::format(",\n  \"uri\": {}", json_string(result.uri));
  return fmt::format("{{\n  \"pyannote\": \"Annotation\",\n  \"content\": {}{}\n}}\n",
                     json_list(lines, 2), uri);
}

}  // namespace diarist::output
