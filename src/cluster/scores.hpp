#pragma once
// How well every (window, speaker) pair fits every cluster, and who gets which (pipeline.md 9,
// campplus.md step 8).

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/speakers.hpp"

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

/// Cosines of all pairs with all centroids [C*3, K] in f64; NaN where a vector has none.
/// \param centroids [K, D].
std::vector<double> cosine_scores(const Input& input, std::span<const double> centroids,
                                  base::TaskPool* pool);

/// Scores of the reference, from cosines: 2 - (1 - cosine). For a one-to-one assignment inactive
/// pairs get one less than the smallest score, and a NaN becomes the smallest. In the reference one
/// NaN makes "one less" NaN as well, so that inactive pairs may win over active ones.
void make_reference_scores(std::vector<double>& scores, const std::vector<bool>& active,
                           bool one_to_one, bool reference);

/// Scores of the preset "open", from cosines: -1.5 for active pairs without a vector, -3 for
/// inactive ones.
void make_isotropic_scores(std::vector<double>& scores, const std::vector<bool>& active);

/// Cluster of every pair [C*3], -2 = none. One to one inside every window, or the first maximum
/// where a NaN counts as the largest number, as it does in NumPy.
std::vector<std::int32_t> assign_pairs(std::span<const double> scores, std::size_t clusters,
                                       bool one_to_one, base::TaskPool* pool = nullptr);

}  // namespace diarist::cluster
