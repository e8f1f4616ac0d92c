#pragma once
// Shape arithmetic of the blocks: the only place that knows how long a block's output is.

#include <cstdint>
#include <span>

#include "model/graph.hpp"

namespace diarist::model {

/// Length of a block's output along time, given the length of its (first ragged) input. 0 when the
/// input is too short for one output. Blocks that remove the time axis return 0.
std::int64_t time_length(const Block& block, std::int64_t length);

/// Type and shape of a block's output; -1 stays -1. The name is left empty.
/// \throws Error kInternal when the inputs don't fit the block: a bug in a network's builder, since
/// weights were checked before.
Value infer_value(const Block& block, std::span<const Value> inputs);

}  // namespace diarist::model
