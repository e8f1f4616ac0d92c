#pragma once
// The parts of DER and JER of one recording whose turns were cropped to what is scored.

#include <string>
#include <vector>

#include "diarist/scoring.hpp"
#include "output/scored_voices.hpp"

namespace diarist::output {

/// For each row the column it is paired with, -1 where they never talk together.
std::vector<int> paired(const Voices& rows, const Voices& columns);

/// `pairs` of two sides that were cropped elsewhere, for the speakers of these two: by name.
std::vector<int> paired_by_name(const std::vector<int>& pairs, const Voices& from_rows,
                                const Voices& from_columns, const Voices& rows,
                                const Voices& columns);

/// Adds the seconds of the DER. \param reference_of per hypothesis speaker its reference or -1.
void add_error_seconds(const Voices& reference, const Voices& hypothesis,
                       const std::vector<int>& reference_of, Score& score);

/// Adds the Jaccard errors. \param hypothesis_of per reference speaker its hypothesis or -1.
void add_jaccard_errors(const Voices& reference, const Voices& hypothesis,
                        const std::vector<int>& hypothesis_of, Score& score);

/// The pairing in words.
std::vector<SpeakerPair> speaker_pairs(const Voices& reference, const Voices& hypothesis,
                                       const std::vector<int>& reference_of);

}  // namespace diarist::output
