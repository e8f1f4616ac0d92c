// From turns in a file to a result.

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/error.hpp"
#include "output/formats/readers.hpp"
#include "output/turn_order.hpp"

namespace diarist {
namespace output {

void check_times(double start, double end, const std::string& place) {
  if (!(start >= 0 && end <= kLongest)) {
    base::fail(ErrorCode::kBadFile,
               "{}: a turn from {} to {} s lies outside any recording; correct the times", place,
               start, end);
  }
  if (!(start <= end)) {
    base::fail(ErrorCode::kBadFile, "{}: the end {} lies before the start {}; correct the times",
               place, end, start);
  }
}

Diarization result_of(const std::string& uri, const std::vector<NamedTurn>& turns,
                      double duration) {
  Diarization result;
  result.uri = uri;
  result.duration = duration;
  std::map<std::string, int> numbers;  // in order of the file first, in order of time below
  std::vector<std::string> names;
  std::size_t empty = 0;
  for (const NamedTurn& turn : turns) {
    if (!(turn.start < turn.end)) {
      ++empty;
      continue;
    }
    const auto [place, added] = numbers.emplace(turn.name, static_cast<int>(names.size()));
    if (added) names.push_back(turn.name);
    result.turns.push_back({turn.start, turn.end, place->second});
  }
  if (empty > 0) {
    result.warnings.push_back(fmt::format("{} without a length left out",
                                          empty == 1 ? "1 turn" : fmt::format("{} turns", empty)));
  }
  sort_turns(result.turns);
  std::vector<int> order(names.size(), -1);
  for (Turn& turn : result.turns) {
    int& number = order[static_cast<std::size_t>(turn.speaker)];
    if (number < 0) {
      number = static_cast<int>(result.speakers.size());
      result.speakers.push_back({names[static_cast<std::size_t>(turn.speaker)], 0, {}});
    }
    turn.speaker = number;
    result.speakers[static_cast<std::size_t>(number)].speech_seconds += turn.end - turn.start;
  }
  sort_turns(result.turns);
  result.exclusive_turns = first_come_turns(result.turns);
  return result;
}

Results results_of_rttm(std::string_view text, const Source& source) {
  Results results;
  for (const auto& [uri, turns] : parse_rttm(text, source.name)) {
    std::vector<NamedTurn> named;
    for (const RttmTurn& turn : turns) {
      check_times(turn.start, turn.start + turn.duration, source.name);
      named.push_back({turn.start, turn.start + turn.duration, turn.label});
    }
    results.push_back(result_of(uri, named));
  }
  return results;
}

}  // namespace output

Diarization to_diarization(const std::string& uri, const std::vector<RttmTurn>& turns,
                           double duration) {
  std::vector<output::NamedTurn> named;
  for (const RttmTurn& turn : turns) {
    const double end = turn.start + turn.duration;
    if (!(turn.start >= 0 && turn.duration >= 0 && end <= output::kLongest)) {
      base::fail(ErrorCode::kInvalidArgument,
                 "turn of '{}' in '{}' from {} s, {} s long; give numbers >= 0", turn.label, uri,
                 turn.start, turn.duration);
    }
    named.push_back({turn.start, end, turn.label});
  }
  if (!(duration >= 0 && duration <= output::kLongest)) {
    base::fail(ErrorCode::kInvalidArgument, "duration of '{}' is {}; give a number >= 0", uri,
               duration);
  }
  return output::result_of(uri, named, duration);
}

}  // namespace diarist
