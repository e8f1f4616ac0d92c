#pragma once
/// \file
/// Turns made ready for their reader: short ones dropped, gaps closed, edges padded, names given.

#include <map>
#include <string>
#include <vector>

#include "diarist/export.hpp"

namespace diarist {

struct Diarization;

/// What is done to the turns of a result, in this order. Zero, false and empty leave them alone.
/// Seconds; each must be a number >= 0.
struct TurnShaping {
  /// Names of the speakers by number: names[0] is that of SPEAKER_00, the first to speak. Speakers
  /// beyond the list keep theirs.
  std::vector<std::string> names;
  /// Or names by name: "SPEAKER_01" -> "Anna". Only one of `names` and `renames` may be given. Two
  /// speakers with one new name become one. Who was named after a voice (voices.hpp) is also found
  /// under the name before.
  std::map<std::string, std::string> renames;
  /// 1. Pauses of one speaker that are shorter than this are filled, whoever talks in them.
  double min_duration_off = 0;
  /// 2. Turns that are shorter than this are dropped, and speakers without any turn left.
  double min_duration_on = 0;
  /// 3. Turns of one speaker are joined over a pause shorter than this if nobody else talks in it.
  double merge_gap = 0;
  /// 4. Turns begin earlier and end later by this, inside the recording; turns of one speaker that
  /// then meet become one.
  double pad = 0;
  /// 5. The turns are the exclusive ones, at most one speaker at a time.
  bool exclusive = false;

  friend bool operator==(const TurnShaping&, const TurnShaping&) = default;
};

/// The result with its turns shaped. Exclusive turns are shaped too and stay exclusive: pauses are
/// filled and edges padded only where nobody else talks; two speakers who reach for the same pause
/// meet in its middle. Turns are sorted by start, end and speaker; seconds of speech are counted
/// again; settings.shaping says what was done; a name that no speaker took is a warning.
/// A shaping that asks for nothing returns the result as it is.
/// \throws Error kInvalidArgument for a number that is not >= 0, an empty name, or names of both
/// kinds.
DIARIST_API Diarization shaped(Diarization result, const TurnShaping& shaping);

}  // namespace diarist
