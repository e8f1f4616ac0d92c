// Praat's long text format, with the blanks at line ends that Praat writes too.

#include <fmt/format.h>

#include <iterator>

#include "output/formats/unicode.hpp"
#include "output/formats/writers.hpp"

namespace diarist::output {
namespace {

std::string praat_string(std::string_view name) {
  std::string text = "\"";
  for (const char c : valid_utf8(escaped(name, kLineText))) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

struct Interval {
  std::int64_t start = 0;
  std::int64_t end = 0;
  bool speech = false;
};

// Turns and the pauses between them, from 0 to the end.
std::vector<Interval> intervals_of(const std::vector<PrintedTurn>& turns, std::int64_t length) {
  std::vector<Interval> intervals;
  std::int64_t last = 0;
  for (const PrintedTurn& turn : turns) {
    if (turn.start > last) intervals.push_back({last, turn.start, false});
    intervals.push_back({turn.start, turn.end, true});
    last = turn.end;
  }
  if (last < length) intervals.push_back({last, length, false});
  return intervals;
}

// "0" and "12.5" where Praat writes no zeros: its readers take both, so three decimals it is.
std::string number(std::int64_t milliseconds) {
  return milliseconds == 0 ? "0" : milliseconds_text(milliseconds);
}

}  // namespace

std::string text_grid_text(const Diarization& result) {
  std::vector<Lane> lanes = lanes_of(result);
  // Praat knows no grid without tiers or without a length.
  const std::string silence = "silence";
  if (lanes.empty()) lanes.push_back({&silence, 1, {}});
  const std::int64_t length = std::max<std::int64_t>(printed_length(result), 1);
  std::string text = fmt::format(
      "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\nxmin = 0 \nxmax = {} \n"
      "tiers? <exists> \nsize = {} \nitem []: \n",
      number(length), lanes.size());
  const auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::string name = praat_string(*lanes[i].name);
    const std::vector<Interval> intervals = intervals_of(lanes[i].turns, length);
    fmt::format_to(out,
                   "    item [{}]:\n        class = \"IntervalTier\" \n        name = {} \n"
                   "        xmin = 0 \n        xmax = {} \n        intervals: size = {} \n",
                   i + 1, name, number(length), intervals.size());
    for (std::size_t j = 0; j < intervals.size(); ++j) {
      fmt::format_to(out,
                     "        intervals [{}]:\n            xmin = {} \n            xmax = {} \n"
                     "            text = {} \n",
                     j + 1, number(intervals[j].start), number(intervals[j].end),
                     intervals[j].speech ? name : "\"\"");
    }
  }
  return text;
}

}  // namespace diarist::output
