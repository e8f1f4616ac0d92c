#pragma once
// RTTM text of segments, written here so that tests of the timeline need no writer.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "timeline/turns.hpp"

namespace diarist::test {

inline std::string rttm_of(const std::vector<Turn>& turns, const std::vector<std::string>& names,
                           const std::string& uri) {
  std::string text;
  for (const Turn& turn : turns)
    text += fmt::format("SPEAKER {} 1 {:.3f} {:.3f} <NA> <NA> {} <NA> <NA>\n", uri, turn.start,
                        turn.end - turn.start, names.at(static_cast<std::size_t>(turn.speaker)));
  return text;
}

}  // namespace diarist::test
