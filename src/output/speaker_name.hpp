#pragma once
// The name behind the speaker number of a turn.

#include <cmath>
#include <string>

#include "base/error.hpp"
#include "diarist/result.hpp"

namespace diarist::output {

/// Name of the turn's speaker. \throws Error kInternal when the turn can't be printed: a speaker
/// that the result does not list, or a time that is not finite.
inline const std::string& speaker_name(const Diarization& result, const Turn& turn) {
  if (turn.speaker < 0 || static_cast<std::size_t>(turn.speaker) >= result.speakers.size()) {
    base::fail(ErrorCode::kInternal,
               "result of '{}': a turn has speaker {}, but there are {} speakers; please report "
               "this as a bug of diarist",
               result.uri, turn.speaker, result.speakers.size());
  }
  if (!std::isfinite(turn.start) || !std::isfinite(turn.end)) {
    base::fail(ErrorCode::kInternal,
               "result of '{}': a turn starts or ends at a time that is not a number; please "
               "report this as a bug of diarist",
               result.uri);
  }
  return result.speakers[static_cast<std::size_t>(turn.speaker)].name;
}

/// Throws like speaker_name() unless every turn can be printed; afterwards the writers may use
/// turn.speaker as an index.
inline void check_printable(const Diarization& result) {
  for (const auto* turns : {&result.turns, &result.exclusive_turns}) {
    for (const Turn& turn : *turns) speaker_name(result, turn);
  }
}

}  // namespace diarist::output
