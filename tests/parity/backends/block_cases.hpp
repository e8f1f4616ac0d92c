#pragma once
// Graphs of one block with random weights, in the sizes of the networks and in odd ones.

#include <vector>

#include "graph_runner.hpp"

namespace diarist::test {

std::vector<GraphCase> signal_cases();         // LogMel, SincConvolution, SincPool
std::vector<GraphCase> mirrored_sinc_cases();  // part of these
std::vector<GraphCase> row_cases();       // Conv1d, Dense, LogSoftmax, PowersetDecision, GatherRows
std::vector<GraphCase> sequence_cases();  // BiLstm, DenseTdnnBlock
std::vector<GraphCase> map_cases();       // Stem, Conv2d, MapToRows
std::vector<GraphCase> statistics_cases();  // MaskedStatsHead, StatsHead

/// All of the above.
std::vector<GraphCase> block_cases();

}  // namespace diarist::test
