#include "cluster/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cluster/assignment.hpp"
#include "cluster/matrix.hpp"
#include "cluster/rows.hpp"
#include "cluster/training.hpp"

namespace diarist::cluster {
namespace {

constexpr double kScoreWithoutVector = -1.5;
constexpr double kScoreInactive = -3.0;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kBlockRows = 4096;  // bounds the f64 copy of the embeddings

std::int32_t first_maximum(std::span<const double> row) {
  std::size_t best = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (std::isnan(row[k])) return static_cast<std::int32_t>(k);
    if (row[k] > row[best]) best = k;
  }
  return static_cast<std::int32_t>(best);
}

}  // namespace

std::vector<double> cosine_scores(const Input& input, std::span<const double> centroids,
                                  base::TaskPool* pool) {
  const std::size_t dim = static_cast<std::size_t>(input.dim);
  const std::size_t clusters = centroids.size() / dim;
  std::vector<double> unit(centroids.begin(), centroids.end());
  normalize_rows(unit, dim);
  std::vector<double> transposed(unit.size());
  for (std::size_t k = 0; k < clusters; ++k)
    for (std::size_t d = 0; d < dim; ++d) transposed[d * clusters + k] = unit[k * dim + d];
  const std::size_t pairs = input.embeddings.size() / dim;
  std::vector<double> scores(pairs * clusters);
  for (std::size_t first = 0; first < pairs; first += kBlockRows) {
    const std::size_t rows = std::min(kBlockRows, pairs - first);
    const auto block = input.embeddings.subspan(first * dim, rows * dim);
    std::vector<double> wide(block.begin(), block.end());
    normalize_rows(wide, dim);
    multiply({wide.data(), dim, 1}, transposed.data(), &scores[first * clusters], rows, dim,
             clusters, pool);
  }
  return scores;
}

void make_reference_scores(std::vector<double>& scores, const std::vector<bool>& active,
                           bool one_to_one, bool reference) {
  const std::size_t clusters = scores.size() / active.size();
  double lowest = kInfinity, lowest_active = kInfinity;
  bool any_nan = false;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    double& score = scores[i];
    score = 2 - (1 - score);
    any_nan = any_nan || std::isnan(score);
    if (score < lowest) lowest = score;
    if (active[i / clusters] && score < lowest_active) lowest_active = score;
  }
  if (!one_to_one) return;
  if (lowest == kInfinity) lowest = 0;  // no score at all is a number
  if (lowest_active == kInfinity) lowest_active = lowest;
  const double inactive = any_nan && reference ? lowest_active : lowest - 1;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!active[i / clusters])
      scores[i] = inactive;
    else if (std::isnan(scores[i]))
      scores[i] = lowest_active;
  }
}

void make_isotropic_scores(std::vector<double>& scores, const std::vector<bool>& active) {
  const std::size_t clusters = scores.size() / active.size();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!active[i / clusters])
      scores[i] = kScoreInactive;
    else if (std::isnan(scores[i]))
      scores[i] = kScoreWithoutVector;
  }
}

std::vector<std::int32_t> assign_pairs(std::span<const double> scores, std::size_t clusters,
                                       bool one_to_one) {
  const std::size_t pairs = scores.size() / clusters;
  std::vector<std::int32_t> assigned(pairs, -2);
  if (!one_to_one) {
    for (std::size_t pair = 0; pair < pairs; ++pair)
      assigned[pair] = first_maximum(scores.subspan(pair * clusters, clusters));
    return assigned;
  }
  for (std::size_t first = 0; first < pairs; first += kLocalSpeakers) {
    const std::vector<std::int32_t> columns = max_assignment(
        scores.subspan(first * clusters, kLocalSpeakers * clusters), kLocalSpeakers, clusters);
    for (std::size_t s = 0; s < columns.size(); ++s)
      if (columns[s] >= 0) assigned[first + s] = columns[s];
  }
  return assigned;
}

}  // namespace diarist::cluster
