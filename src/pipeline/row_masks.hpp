#pragma once
// From a window's activity to the log-mel rows of a speaker (campplus.md, preset "open", step 2).

#include <cstdint>
#include <span>
#include <vector>

namespace diarist::pipeline {

inline constexpr int kRowsPerWindow = 998;

/// Rows t (0..997) whose frame floor(t*589/998) belongs to the speaker's embedding mask.
/// `alone`: only rows in which nobody else speaks.
std::vector<std::int32_t> speaker_rows(std::span<const std::uint8_t> window, int speaker,
                                       bool alone = false);

}  // namespace diarist::pipeline
