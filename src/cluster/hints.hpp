#pragma once
// Requested numbers of speakers, checked and filled in (pipeline.md 11 and last section).

#include <optional>
#include <string>

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

/// A warning when a result has fewer speakers than were asked for, else nothing. For results
/// without the reference's rules; clusters may lose all their frames after they were assigned.
std::optional<std::string> unmet_minimum(const SpeakerHints& hints, int speakers);

}  // namespace diarist::cluster
