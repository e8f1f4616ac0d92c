#pragma once
// Runs of set frames become turns with names (pipeline.md 12, 13; diarist's own rules: last
// section).

#include <string>
#include <vector>

#include "diarist/result.hpp"
#include "timeline/aggregate.hpp"

namespace diarist::timeline {

/// One run of set frames of one column, in seconds.
struct Segment {
  double start = 0;
  double end = 0;
  int column = 0;
  int first_frame = 0;  // frames [first_frame, end_frame) of the matrix
  int end_frame = 0;
  float confidence = 1;  // add_confidence() fills it
};

/// Segments in the reference's output order: start, end, track name, label.
std::vector<Segment> segments_of(const FrameMatrix& matrix, double min_duration_off = 0);

/// Turns and names of a recording.
struct NamedTurns {
  std::vector<Turn> turns;  // Turn::speaker indexes columns/names
  std::vector<Turn> exclusive_turns;
  std::vector<int> columns;        // column of every named speaker
  std::vector<std::string> names;  // "SPEAKER_00", ...
};

/// Reference naming: columns sorted as text (pipeline.md 13).
NamedTurns name_like_reference(const std::vector<Segment>& segments,
                               const std::vector<Segment>& exclusive);

/// diarist's default: ends clamped to the duration (also after rounding to 1 ms), empty turns
/// dropped, SPEAKER_00 speaks first. duration 0: unknown, nothing is clamped.
NamedTurns name_by_first_turn(const std::vector<Segment>& segments,
                              const std::vector<Segment>& exclusive, double duration);

}  // namespace diarist::timeline
