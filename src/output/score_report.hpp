#pragma once
// What the printed reports of a comparison have in common.

#include <array>
#include <string>
#include <vector>

#include "diarist/scoring.hpp"

namespace diarist::output {

/// Cells of one line: name, DER, JER, parts in per cent of the scored speech, scored seconds,
/// speakers.
using ScoreLine = std::array<std::string, 8>;

/// Header of the lines.
ScoreLine score_header();
/// `name` as it is to be printed.
ScoreLine score_line(const std::string& name, const Score& score);

/// Lines about the whole, without a line break each: conventions, seconds, speaker counts,
/// intervals and the comparison where the report has them.
std::vector<std::string> score_remarks(const ScoreReport& report, const ScoringOptions& options);

}  // namespace diarist::output
