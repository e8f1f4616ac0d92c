#pragma once
// Requested numbers of speakers, checked and filled in (pipeline.md 11 and last section).

#include "cluster/agglomerative.hpp"
#include "diarist/options.hpp"

namespace diarist::cluster {

/// \param reference as the reference pipeline treats them: zero counts as not given, `num` wins
/// over
///     min and max.
/// \throws Error kInvalidArgument for negative or contradicting numbers, and for zero unless
///     `reference`.
void check_hints(const SpeakerHints& hints, bool reference);

/// The range of checked hints.
CountRange range_of(const SpeakerHints& hints);

}  // namespace diarist::cluster
