#pragma once
// The best one-to-one pairing of two sets.

#include <cstddef>
#include <vector>

namespace diarist::output {

/// Pairs rows with columns so that the sum of the weights of the pairs is largest; every member
/// of the smaller side gets a partner, also at weight 0.
///
/// Shortest augmenting paths (D. F. Crouse, "On implementing 2D rectangular assignment
/// algorithms", IEEE Trans. AES 52(4), 2016), O(n^2 m). Between pairings of equal weight the
/// choice is that of scipy's linear_sum_assignment: rows in order, a free column before a taken
/// one, the lowest column first. Scores that depend on such a choice (the Jaccard error) then
/// agree with tools that use it.
///
/// \param weights [rows, columns], finite.
/// \return for each row its column, or -1.
std::vector<int> best_pairs(const std::vector<double>& weights, int rows, int columns);

}  // namespace diarist::output
