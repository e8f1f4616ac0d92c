#pragma once
// One-to-one assignment of local speakers to clusters (pipeline.md 9).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace diarist::cluster {

/// Distinct columns for the rows that maximise the sum of scores; shortest augmenting paths with
/// the order among equal sums of tie rule T2.
/// \param scores [rows, columns], finite.
/// \return column of every row, -1 when there are fewer columns than rows and none was left.
std::vector<std::int32_t> max_assignment(std::span<const double> scores, std::size_t rows,
                                         std::size_t columns);

}  // namespace diarist::cluster
