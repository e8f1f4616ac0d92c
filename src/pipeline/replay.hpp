#pragma once
// Stored stages in place of what the networks said: a realistic load for the clustering, whatever
// the weights are (RunOptions::replay).

#include <cstdint>
#include <vector>

#include "diarist/result.hpp"

namespace diarist::pipeline {

struct ReplayedStages {
  std::vector<std::uint8_t> activity;  // [C, 589]
  std::vector<float> embeddings;       // [C, 3, D]
};

/// \throws Error kInvalidArgument when the stages are empty, incomplete or of another dimension.
void check_replay(const StageResults& stages, int dim);

/// Stages of a recording with so many windows. The stored ones are taken for windows one second
/// apart and begin again behind their last. Every vector is moved by 2 % of its length, by an
/// amount that depends on its place alone: no two are equal, and every run gives the same bytes.
/// \pre check_replay().
ReplayedStages replay_stages(const StageResults& stages, int chunks, int step_seconds);

}  // namespace diarist::pipeline
