#pragma once
// How well every (window, speaker) pair fits every cluster, and who gets which (pipeline.md 9,
// campplus.md step 8).

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <vector>

#include "cluster/speakers.hpp"

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

/// Cosines of vectors [pairs, D] with all centroids, [pairs, K] in f64; NaN where a vector has
/// none. \param centroids [K, D]. \throws Error kCancelled.
std::vector<double> cosine_scores(std::span<const float> embeddings, std::size_t dim,
                                  std::span<const double> centroids, base::TaskPool* pool,
                                  const std::stop_token& stop = {});

/// What inactive pairs and NaN get depends on all scores of a recording.
struct ScoreRange {
  double lowest = std::numeric_limits<double>::infinity();
  double lowest_active = std::numeric_limits<double>::infinity();
  bool any_nan = false;
  /// Takes in cosines [pairs, K] of pairs from number `first` on, as scores of the reference.
  void add(std::span<const double> cosines, const std::vector<bool>& active, std::size_t first,
           std::size_t clusters);
};

struct ScoreRule {
  bool isotropic = false;   ///< scores of the preset "open", else those of the reference
  bool one_to_one = false;  ///< one cluster per local speaker of a window
  bool reference = false;   ///< NaN as the reference treats them
};

/// Cluster of every pair [C*3], -2 = none: all of the above. Scores of long recordings are made in
/// parts, twice where the rule needs their range first.
/// \param most_scores of one part. \throws Error kCancelled.
std::vector<std::int32_t> assign_by_cosine(const Input& input, std::span<const double> centroids,
                                           const std::vector<bool>& active, const ScoreRule& rule,
                                           base::TaskPool* pool, const std::stop_token& stop = {},
                                           std::size_t most_scores = std::size_t{1} << 22);

/// Scores of the reference, from cosines: 2 - (1 - cosine). For a one-to-one assignment inactive
/// pairs get one less than the smallest score, and a NaN becomes the smallest. In the reference one
/// NaN makes "one less" NaN as well, so that inactive pairs may win over active ones.
void make_reference_scores(std::vector<double>& scores, const std::vector<bool>& active,
                           bool one_to_one, bool reference);
/// The same with the range of all scores, of which these are a part.
void make_reference_scores(std::vector<double>& scores, const std::vector<bool>& active,
                           bool one_to_one, bool reference, const ScoreRange& range);

/// Scores of the preset "open", from cosines: -1.5 for active pairs without a vector, -3 for
/// inactive ones.
void make_isotropic_scores(std::vector<double>& scores, const std::vector<bool>& active);

/// Cluster of every pair [C*3], -2 = none. One to one inside every window, or the first maximum
/// where a NaN counts as the largest number, as it does in NumPy.
std::vector<std::int32_t> assign_pairs(std::span<const double> scores, std::size_t clusters,
                                       bool one_to_one, base::TaskPool* pool = nullptr,
                                       const std::stop_token& stop = {});

}  // namespace diarist::cluster
