#include "output/formats/writers.hpp"

#include <algorithm>

namespace diarist::output {

std::vector<Lane> lanes_of(const Diarization& result) {
  check_printable(result);
  std::vector<std::vector<PrintedTurn>> turns(result.speakers.size());
  for (const Turn& turn : result.turns) {
    turns[static_cast<std::size_t>(turn.speaker)].push_back(printed_turn(result, turn));
  }
  std::vector<Lane> lanes;
  for (std::size_t speaker = 0; speaker < turns.size(); ++speaker) {
    std::stable_sort(turns[speaker].begin(), turns[speaker].end(),
                     [](const PrintedTurn& a, const PrintedTurn& b) { return a.start < b.start; });
    const std::size_t first = lanes.size();
    lanes.push_back({&result.speakers[speaker].name, 1, {}});
    for (const PrintedTurn& turn : turns[speaker]) {
      std::size_t lane = first;
      while (lane < lanes.size() && !lanes[lane].turns.empty() &&
             lanes[lane].turns.back().end > turn.start) {
        ++lane;
      }
      if (lane == lanes.size()) {
        lanes.push_back({lanes[first].name, static_cast<int>(lane - first) + 1, {}});
      }
      lanes[lane].turns.push_back(turn);
    }
  }
  return lanes;
}

std::int64_t printed_length(const Diarization& result) {
  std::int64_t length = result.duration > 0 ? floored_milliseconds(result.duration) : 0;
  for (const Turn& turn : result.turns) length = std::max(length, printed_turn(result, turn).end);
  return length;
}

}  // namespace diarist::output
