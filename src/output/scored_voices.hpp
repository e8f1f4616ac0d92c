#pragma once
// Turns of one recording as scoring sees them.

#include <string>
#include <vector>

#include "diarist/scoring.hpp"
#include "output/spans.hpp"

namespace diarist::output {

struct Voice {
  Span span;
  int speaker = 0;  ///< index into Voices::names
};

/// One side of the comparison. `voices` are sorted by start, then end; no span is empty and every
/// name has at least one.
struct Voices {
  std::vector<std::string> names;
  std::vector<Voice> voices;
};

enum class Side { kReference, kHypothesis };

/// Turns with a length; names sorted as text.
Voices voices_of(const std::vector<RttmTurn>& turns);

/// Speakers of whom two turns overlap, sorted.
std::vector<std::string> speakers_with_themselves(const Voices& voices);

/// Joins overlapping turns of the same speaker. Turns that only touch stay apart: the boundary
/// between them has a collar.
void merge_own_overlaps(Voices& voices);

/// Sorted disjoint stretches that are scored: `evaluated` (as merged() gives it) without the
/// collars around the boundaries of the reference and, if asked for, without its overlaps. Where a
/// border of `evaluated` cuts a turn there is no collar.
std::vector<Span> scored_regions(const Voices& reference, const std::vector<Span>& evaluated,
                                 const ScoringOptions& options);

/// Speakers of whom something lies inside the regions.
int speakers_inside(const Voices& voices, const std::vector<Span>& regions);

/// What lies inside the regions. Speakers without a rest are gone; the others stand in the order
/// that decides between pairings of equal weight.
///
/// pyannote.metrics renames the remaining speakers in text order, A, B, ..., Z, AA, AB, ... on the
/// reference side and 0, 1, 2, ... on the other, and sorts them as text again; from 27 or 11
/// speakers on that is another order.
Voices cropped(const Voices& voices, const std::vector<Span>& regions, Side side);

/// Seconds that each speaker of `rows` talks together with each of `columns`, [rows, columns].
std::vector<double> seconds_together(const Voices& rows, const Voices& columns);

}  // namespace diarist::output
