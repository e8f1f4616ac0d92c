#pragma once
// Times in transcripts: as JSON values and as text of subtitles.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "output/transcript_json_tree.hpp"

namespace diarist::output {

/// Largest absolute time, in seconds: 31 years.
constexpr double kMostSeconds = 1e9;

/// Names a place in a JSON transcript for messages: "segments[3].words[1].start".
struct JsonPlace {
  std::string_view list;
  std::size_t item = 0;
  std::string_view inner = {};  ///< list inside the item; empty: the item itself
  std::size_t inner_item = 0;
  std::string text(std::string_view member = {}) const;
};

/// A time. Null, a missing member, NaN and the strings "", "nan", "null" and "none" are no time;
/// a string of digits is one. \throws Error kBadFile for anything else.
std::optional<double> json_time(const JsonNode* node, double unit, const std::string& source,
                                const JsonPlace& place, std::string_view member);

/// "01:02:03,456" or "02:03.456", a comma or a point, hours as needed, perhaps negative.
/// \return seconds, or nothing where this is no such time.
std::optional<double> clock_time(std::string_view text);

/// "01:02:03,456": two digits at least, hours always; negative times count as 0.
std::string subtitle_clock(double seconds, char point);

/// Counts pairs of times whose end lies before the start.
class OddTimes {
 public:
  void check(std::optional<double> start, std::optional<double> end, const JsonPlace& place) {
    if (!start || !end || *end >= *start) return;
    if (count_++ == 0) first_ = place.text();
  }
  void add_warnings(const std::string& source, std::vector<std::string>& warnings) const;

 private:
  std::size_t count_ = 0;
  std::string first_;
};

}  // namespace diarist::output
