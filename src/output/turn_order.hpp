#pragma once
// The order of turns in every output, and turns of which at most one runs at a time.

#include <algorithm>
#include <tuple>
#include <vector>

#include "diarist/result.hpp"

namespace diarist::output {

/// By start, then end, then speaker; equal ones keep their order.
inline void sort_turns(std::vector<Turn>& turns) {
  std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return std::tie(a.start, a.end, a.speaker) < std::tie(b.start, b.end, b.speaker);
  });
}

/// What a list of sorted turns keeps when only one speaker may talk at a time: whoever began first
/// goes on (of two who begin together, who ends later), another begins when that turn is over.
/// For turns that come without the scores of the networks, which decide otherwise.
inline std::vector<Turn> first_come_turns(std::vector<Turn> turns) {
  std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return a.start < b.start || (a.start == b.start && a.end > b.end);
  });
  std::vector<Turn> result;
  double free_from = 0;
  for (Turn turn : turns) {
    turn.start = std::max(turn.start, free_from);
    if (!(turn.start < turn.end)) continue;
    free_from = turn.end;
    result.push_back(turn);
  }
  return result;
}

}  // namespace diarist::output
