#pragma once
// How much the windows agree about a turn.

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "timeline/grid.hpp"
#include "timeline/turn_check.hpp"
#include "timeline/turns.hpp"

namespace diarist::timeline {

/// Sets Segment::confidence: the mean over the segment's frames of the share of windows covering
/// the frame in which a local speaker of the segment's cluster is set. Frames that the turn check
/// moved count for the column they came from: it changed whose voice this is, not whether somebody
/// was heard. A phantom column has no cluster and gets 0.
/// \param activity [C, 589]. \param hard [C, 3] cluster numbers, negative = none.
/// \throws Error kCancelled.
void add_confidence(const Grid& grid, std::span<const std::uint8_t> activity,
                    std::span<const std::int32_t> hard, std::span<const Move> moves,
                    std::span<Segment> segments, const std::stop_token& stop = {});

}  // namespace diarist::timeline
