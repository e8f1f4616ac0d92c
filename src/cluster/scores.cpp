#include "cluster/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cluster/assignment.hpp"
#include "cluster/matrix.hpp"
#include "cluster/parallel.hpp"
#include "cluster/rows.hpp"
#include "cluster/training.hpp"

namespace diarist::cluster {
namespace {

constexpr double kScoreWithoutVector = -1.5;
constexpr double kScoreInactive = -3.0;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kBlockRows = 128;    // pairs per task
constexpr std::size_t kBlockWindows = 64;  // windows per task

double reference_score(double cosine) { return 2 - (1 - cosine); }

std::int32_t first_maximum(std::span<const double> row) {
  std::size_t best = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (std::isnan(row[k])) return static_cast<std::int32_t>(k);
    if (row[k] > row[best]) best = k;
  }
  return static_cast<std::int32_t>(best);
}

std::span<double> row_of(std::vector<double>& scores, std::size_t pair, std::size_t clusters) {
  return std::span<double>(scores).subspan(pair * clusters, clusters);
}

// Scores of inactive pairs, and those of active pairs that are not numbers.
void replace_scores(std::vector<double>& scores, const std::vector<bool>& active,
                    double without_vector, double inactive) {
  const std::size_t clusters = scores.size() / active.size();
  for (std::size_t pair = 0; pair < active.size(); ++pair) {
    const std::span<double> row = row_of(scores, pair, clusters);
    if (active[pair])
      std::replace_if(
          row.begin(), row.end(), [](double x) { return std::isnan(x); }, without_vector);
    else
      std::fill(row.begin(), row.end(), inactive);
  }
}

}  // namespace

std::vector<double> cosine_scores(std::span<const float> embeddings, std::size_t dim,
                                  std::span<const double> centroids, base::TaskPool* pool,
                                  const std::stop_token& stop) {
  const std::size_t clusters = centroids.size() / dim;
  std::vector<double> unit(centroids.begin(), centroids.end());
  normalize_rows(unit, dim);
  std::vector<double> transposed(unit.size());
  for (std::size_t k = 0; k < clusters; ++k)
    for (std::size_t d = 0; d < dim; ++d) transposed[d * clusters + k] = unit[k * dim + d];
  const std::size_t pairs = embeddings.size() / dim;
  std::vector<double> scores(pairs * clusters);
  parallel_for(pool, (pairs + kBlockRows - 1) / kBlockRows, stop, [&](std::size_t block) {
    const std::size_t first = block * kBlockRows;
    const std::size_t rows = std::min(kBlockRows, pairs - first);
    const auto part = embeddings.subspan(first * dim, rows * dim);
    std::vector<double> wide(part.begin(), part.end());
    normalize_rows(wide, dim);
    multiply({wide.data(), dim, 1}, transposed.data(), &scores[first * clusters], rows, dim,
             clusters, nullptr);
  });
  return scores;
}

void ScoreRange::add(std::span<const double> cosines, const std::vector<bool>& active,
                     std::size_t first, std::size_t clusters) {
  for (std::size_t pair = 0; pair < cosines.size() / clusters; ++pair) {
    double least = kInfinity;
    for (const double cosine : cosines.subspan(pair * clusters, clusters)) {
      const double score = reference_score(cosine);
      any_nan = any_nan || std::isnan(score);
      if (score < least) least = score;
    }
    lowest = std::min(lowest, least);
    if (active[first + pair]) lowest_active = std::min(lowest_active, least);
  }
}

void make_reference_scores(std::vector<double>& scores, const std::vector<bool>& active,
                           bool one_to_one, bool reference) {
  ScoreRange range;
  if (one_to_one) range.add(scores, active, 0, scores.size() / active.size());
  make_reference_scores(scores, active, one_to_one, reference, range);
}

void make_reference_scores(std::vector<double>& scores, const std::vector<bool>& active,
                           bool one_to_one, bool reference, const ScoreRange& range) {
  for (double& score : scores) score = reference_score(score);
  if (!one_to_one) return;
  // No score at all may be a number.
  const double lowest = range.lowest == kInfinity ? 0 : range.lowest;
  const double lowest_active = range.lowest_active == kInfinity ? lowest : range.lowest_active;
  const double inactive = range.any_nan && reference ? lowest_active : lowest - 1;
  replace_scores(scores, active, lowest_active, inactive);
}

void make_isotropic_scores(std::vector<double>& scores, const std::vector<bool>& active) {
  replace_scores(scores, active, kScoreWithoutVector, kScoreInactive);
}

std::vector<std::int32_t> assign_pairs(std::span<const double> scores, std::size_t clusters,
                                       bool one_to_one, base::TaskPool* pool,
                                       const std::stop_token& stop) {
  const std::size_t pairs = scores.size() / clusters;
  std::vector<std::int32_t> assigned(pairs, -2);
  if (!one_to_one) {
    for (std::size_t pair = 0; pair < pairs; ++pair)
      assigned[pair] = first_maximum(scores.subspan(pair * clusters, clusters));
    return assigned;
  }
  const std::size_t windows = pairs / kLocalSpeakers;
  parallel_for(pool, (windows + kBlockWindows - 1) / kBlockWindows, stop, [&](std::size_t block) {
    const std::size_t last = std::min(windows, (block + 1) * kBlockWindows);
    for (std::size_t window = block * kBlockWindows; window < last; ++window) {
      const std::size_t first = window * kLocalSpeakers;
      const std::vector<std::int32_t> columns = max_assignment(
          scores.subspan(first * clusters, kLocalSpeakers * clusters), kLocalSpeakers, clusters);
      for (std::size_t s = 0; s < columns.size(); ++s)
        if (columns[s] >= 0) assigned[first + s] = columns[s];
    }
  });
  return assigned;
}

std::vector<std::int32_t> assign_by_cosine(const Input& input, std::span<const double> centroids,
                                           const std::vector<bool>& active, const ScoreRule& rule,
                                           base::TaskPool* pool, const std::stop_token& stop,
                                           std::size_t most_scores) {
  const std::size_t dim = static_cast<std::size_t>(input.dim);
  const std::size_t clusters = centroids.size() / dim;
  const std::size_t pairs = input.embeddings.size() / dim;
  const std::size_t windows = std::max<std::size_t>(1, most_scores / (kLocalSpeakers * clusters));
  const std::size_t part = windows * kLocalSpeakers;  // pairs
  const auto cosines = [&](std::size_t first) {
    const std::size_t count = std::min(part, pairs - first);
    return cosine_scores(input.embeddings.subspan(first * dim, count * dim), dim, centroids, pool,
                         stop);
  };
  ScoreRange range;
  std::vector<double> scores;
  if (rule.one_to_one && !rule.isotropic)
    for (std::size_t first = 0; first < pairs; first += part) {
      scores = cosines(first);
      range.add(scores, active, first, clusters);
    }
  std::vector<std::int32_t> assigned;
  assigned.reserve(pairs);
  for (std::size_t first = 0; first < pairs; first += part) {
    if (scores.empty() || part < pairs) scores = cosines(first);
    const auto from = active.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<bool> of_part(from,
                                    from + static_cast<std::ptrdiff_t>(scores.size() / clusters));
    if (rule.isotropic)
      make_isotropic_scores(scores, of_part);
    else
      make_reference_scores(scores, of_part, rule.one_to_one, rule.reference, range);
    const std::vector<std::int32_t> chosen =
        assign_pairs(scores, clusters, rule.one_to_one, pool, stop);
    assigned.insert(assigned.end(), chosen.begin(), chosen.end());
  }
  return assigned;
}

}  // namespace diarist::cluster
