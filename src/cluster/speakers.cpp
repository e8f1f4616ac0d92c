#include "cluster/speakers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "cluster/agglomerative.hpp"
#include "cluster/assignment.hpp"
#include "cluster/hints.hpp"
#include "cluster/kmeans.hpp"
#include "cluster/linkage.hpp"
#include "cluster/rows.hpp"
#include "cluster/training.hpp"
#include "cluster/vbx.hpp"

namespace diarist::cluster {
namespace {

constexpr double kPldaThreshold = 0.6;
constexpr double kIsotropicThreshold = 0.55;
constexpr double kKeptPrior = 1e-7;
// Preset "open" (campplus.md): x = u*sqrt(D / within), the same between-class variance everywhere.
constexpr double kWithin = 0.5;
constexpr double kBetween = 0.8;
constexpr double kIsotropicFb = 0.5;
constexpr double kScoreWithoutVector = -1.5;
constexpr double kScoreInactive = -3.0;

// What one clustering run works on.
struct Job {
  const Input& input;
  const Settings& settings;
  base::TaskPool* pool;
  Training training;
  CountRange range;
  std::size_t dim = 0;
  bool constrained = true;  // one cluster per local speaker of a window
};

void set_clusters(Result& result, std::vector<double> centroids, std::size_t dim) {
  result.centroids = std::move(centroids);
  result.clusters = static_cast<int>(result.centroids.size() / dim);
}

std::vector<double> widened(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

// Fewer than two training pairs: one cluster for everybody.
void single_cluster(const Job& job, Result& result) {
  std::vector<double> mean(job.dim, std::numeric_limits<double>::quiet_NaN());
  if (job.training.count() > 0)
    mean = widened(cluster_means(job.training.rows, job.dim,
                                 std::vector<std::int32_t>(job.training.count(), 0), 1));
  set_clusters(result, std::move(mean), job.dim);
  result.hard.assign(static_cast<std::size_t>(job.input.chunks) * kLocalSpeakers, 0);
}

// The number of clusters to force, 0 when the found one fits (pipeline.md 11).
int forced_number(const Job& job, int found, Result& result) {
  int target = job.range.num.value_or(0);
  if (found < job.range.low) target = job.range.low;
  if (found > job.range.high) target = job.range.high;
  if (target == 0 || target == found) return 0;
  const int most = static_cast<int>(job.training.count());
  if (target > most) {
    if (job.settings.reference && job.settings.method == Method::kVbxPlda)
      base::fail(ErrorCode::kInvalidArgument,
                 "{} speakers asked for, but only {} stretches of speech are long enough to tell "
                 "them apart; ask for fewer",
                 target, most);
    result.warnings.push_back(fmt::format(
        "{} speakers asked for, but only {} stretches of speech are long enough to tell them apart",
        target, most));
    target = most;
  }
  return target == found ? 0 : target;
}

void cluster_with_plda(Job& job, Result& result) {
  const Training& training = job.training;
  if (!job.settings.plda)
    base::fail(ErrorCode::kBadModel, "this preset needs a PLDA; import a bundle that has one");
  const std::vector<float> unit = unit_rows(training.rows, job.dim);
  result.initial_labels = flat_clusters(centroid_linkage(unit, job.dim, job.pool), kPldaThreshold);
  std::vector<double> whitened;
  job.settings.plda->features(training.rows, whitened, result.features);
  const VbxResult vb =
      vbx(result.features, job.settings.plda->psi, result.initial_labels, {}, job.pool);
  std::vector<double> centroids;
  for (std::size_t s = 0; s < vb.speakers; ++s) {
    if (!(vb.priors[s] > kKeptPrior)) continue;
    std::vector<double> sum(job.dim, 0.0);
    double weight = 0;
    for (std::size_t t = 0; t < training.count(); ++t) {
      const double gamma = vb.responsibilities[t * vb.speakers + s];
      weight += gamma;
      for (std::size_t d = 0; d < job.dim; ++d) sum[d] += gamma * training.rows[t * job.dim + d];
    }
    for (const double value : sum) centroids.push_back(value / weight);
  }
  result.responsibilities = vb.responsibilities;
  result.priors = vb.priors;
  result.elbo = vb.elbo;
  const int found = static_cast<int>(centroids.size() / job.dim);
  if (const int target = forced_number(job, found, result); target > 0) {
    job.constrained = false;
    centroids = widened(cluster_means(training.rows, job.dim, kmeans(unit, job.dim, target),
                                      static_cast<std::size_t>(target)));
  }
  set_clusters(result, std::move(centroids), job.dim);
}

// Means of the unit rows per label, scaled to unit length, all in f64.
std::vector<double> unit_centroids(const std::vector<double>& unit, std::size_t dim,
                                   const std::vector<std::int32_t>& labels, int clusters) {
  std::vector<double> centroids(static_cast<std::size_t>(clusters) * dim, 0.0);
  std::vector<double> sizes(static_cast<std::size_t>(clusters), 0.0);
  for (std::size_t t = 0; t < labels.size(); ++t) {
    const std::size_t k = static_cast<std::size_t>(labels[t]);
    sizes[k] += 1;
    for (std::size_t d = 0; d < dim; ++d) centroids[k * dim + d] += unit[t * dim + d];
  }
  for (std::size_t k = 0; k < sizes.size(); ++k)
    for (std::size_t d = 0; d < dim; ++d) centroids[k * dim + d] /= sizes[k];
  normalize_rows(centroids, dim);
  return centroids;
}

void cluster_isotropic(Job& job, Result& result) {
  const std::vector<float> unit = unit_rows(job.training.rows, job.dim);
  result.initial_labels =
      flat_clusters(centroid_linkage(unit, job.dim, job.pool), kIsotropicThreshold);
  const std::vector<double> wide = widened(unit);
  std::vector<double> features = wide;
  const double scale = std::sqrt(static_cast<double>(job.dim) / kWithin);
  for (double& value : features) value *= scale;
  const VbxResult vb = vbx(features, std::vector<double>(job.dim, kBetween), result.initial_labels,
                           {.fb = kIsotropicFb}, job.pool);
  // A speaker is kept when it wins a row: with a constant variance unused ones fade slowly.
  std::vector<std::int32_t> labels;
  for (std::size_t t = 0; t < job.training.count(); ++t) {
    const auto row = vb.responsibilities.begin() + static_cast<std::ptrdiff_t>(t * vb.speakers);
    labels.push_back(static_cast<std::int32_t>(
        std::max_element(row, row + static_cast<std::ptrdiff_t>(vb.speakers)) - row));
  }
  int clusters = renumber(labels);
  result.responsibilities = vb.responsibilities;
  result.priors = vb.priors;
  result.elbo = vb.elbo;
  if (const int target = forced_number(job, clusters, result); target > 0) {
    job.constrained = false;
    labels = kmeans(unit, job.dim, target);
    clusters = renumber(labels);
  }
  set_clusters(result, unit_centroids(wide, job.dim, labels, clusters), job.dim);
}

void cluster_agglomerative(Job& job, Result& result) {
  const std::vector<float> unit = unit_rows(job.training.rows, job.dim);
  result.initial_labels = agglomerate(unit, job.dim, job.range, job.pool);
  // The tree may not offer the number asked for; the reference then misses it silently.
  if (!job.settings.reference && *std::max_element(result.initial_labels.begin(),
                                                   result.initial_labels.end()) >= job.range.high)
    result.initial_labels = kmeans(unit, job.dim, job.range.high);
  const int clusters =
      *std::max_element(result.initial_labels.begin(), result.initial_labels.end()) + 1;
  job.constrained = false;
  set_clusters(result,
               widened(cluster_means(job.training.rows, job.dim, result.initial_labels,
                                     static_cast<std::size_t>(clusters))),
               job.dim);
}

// Cosines of all pairs with all centroids [C*3, K]; NaN where a vector has none.
std::vector<double> cosines(const Job& job, const Result& result) {
  std::vector<double> centroids = result.centroids;
  normalize_rows(centroids, job.dim);
  const std::size_t pairs = static_cast<std::size_t>(job.input.chunks) * kLocalSpeakers;
  const std::size_t clusters = static_cast<std::size_t>(result.clusters);
  std::vector<double> scores(pairs * clusters);
  std::vector<double> unit;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const auto row = job.input.embeddings.subspan(pair * job.dim, job.dim);
    unit.assign(row.begin(), row.end());
    normalize_rows(unit, job.dim);
    for (std::size_t k = 0; k < clusters; ++k) {
      double dot = 0;
      for (std::size_t d = 0; d < job.dim; ++d) dot += unit[d] * centroids[k * job.dim + d];
      scores[pair * clusters + k] = dot;
    }
  }
  return scores;
}

// Scores as pipeline.md 9 has them: 2 - (1 - cosine), inactive pairs one below everything, NaN
// replaced by the smallest score. One NaN makes "one below everything" NaN as well.
void reference_scores(std::vector<double>& scores, const std::vector<bool>& active,
                      bool constrained) {
  double lowest = std::numeric_limits<double>::infinity();
  bool any_nan = false;
  for (double& score : scores) {
    score = 2 - (1 - score);
    any_nan = any_nan || std::isnan(score);
    if (score < lowest) lowest = score;
  }
  if (!constrained) return;
  if (!std::isfinite(lowest)) lowest = 0;
  const std::size_t clusters = scores.size() / active.size();
  double least = lowest;  // of the scores that are left after the inactive ones are set
  if (any_nan) {
    least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < scores.size(); ++i)
      if (active[i / clusters] && scores[i] < least) least = scores[i];
    if (!std::isfinite(least)) least = lowest;
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!active[i / clusters]) scores[i] = any_nan ? least : lowest - 1;
    if (std::isnan(scores[i])) scores[i] = least;
  }
}

void isotropic_scores(const Input& input, std::vector<double>& scores,
                      const std::vector<bool>& active) {
  const std::size_t clusters = scores.size() / active.size();
  for (std::size_t pair = 0; pair < active.size(); ++pair) {
    const int chunk = static_cast<int>(pair) / kLocalSpeakers;
    const bool usable = has_vector(input, chunk, static_cast<int>(pair) % kLocalSpeakers);
    for (std::size_t k = 0; k < clusters; ++k) {
      double& score = scores[pair * clusters + k];
      if (!active[pair])
        score = kScoreInactive;
      else if (!usable || std::isnan(score))
        score = kScoreWithoutVector;
    }
  }
}

void assign_pairs(const Job& job, const std::vector<bool>& active, Result& result) {
  std::vector<double> scores = cosines(job, result);
  if (job.settings.method == Method::kVbxIsotropic)
    isotropic_scores(job.input, scores, active);
  else
    reference_scores(scores, active, job.constrained);
  const std::size_t clusters = static_cast<std::size_t>(result.clusters);
  result.hard.assign(active.size(), -2);
  const std::span<const double> all(scores);
  if (job.constrained) {
    for (int chunk = 0; chunk < job.input.chunks; ++chunk) {
      const std::size_t first = static_cast<std::size_t>(chunk) * kLocalSpeakers;
      const std::vector<std::int32_t> columns = max_assignment(
          all.subspan(first * clusters, kLocalSpeakers * clusters), kLocalSpeakers, clusters);
      for (std::size_t s = 0; s < kLocalSpeakers; ++s)
        if (columns[s] >= 0) result.hard[first + s] = columns[s];
    }
    return;
  }
  for (std::size_t pair = 0; pair < active.size(); ++pair) {
    const auto row = scores.begin() + static_cast<std::ptrdiff_t>(pair * clusters);
    result.hard[pair] = static_cast<std::int32_t>(
        std::max_element(row, row + static_cast<std::ptrdiff_t>(clusters)) - row);
  }
}

void check_unusable(const Job& job, Result& result) {
  if (job.training.unusable == 0) return;
  if (job.settings.reference)
    base::fail(ErrorCode::kInvalidArgument,
               "{} training embeddings are zero or infinite; the reference refuses them",
               job.training.unusable);
  result.warnings.push_back(
      fmt::format("{} embeddings are zero or infinite and were left out", job.training.unusable));
}

}  // namespace

Result assign_speakers(const Input& input, const Settings& settings, base::TaskPool* pool) {
  check_hints(settings.hints, settings.reference);
  Job job{input,
          settings,
          pool,
          training_pairs(input),
          range_of(settings.hints),
          static_cast<std::size_t>(input.dim)};
  Result result;
  result.max_count = job.range.high == std::numeric_limits<int>::max() ? 0 : job.range.high;
  check_unusable(job, result);
  std::vector<bool> active;
  for (int chunk = 0; chunk < input.chunks; ++chunk)
    for (int speaker = 0; speaker < kLocalSpeakers; ++speaker)
      active.push_back(pair_is_active(input, chunk, speaker));
  result.train_chunk = job.training.chunk;
  result.train_speaker = job.training.speaker;

  const int trained = static_cast<int>(job.training.count());
  if (settings.method == Method::kAgglomerative) {
    job.range.low = std::max(1, std::min(trained, job.range.low));
    job.range.high = std::max(1, std::min(trained, job.range.high));
    if (job.range.low == job.range.high) job.range.num = job.range.low;
  }
  if (trained < 2 || (settings.method == Method::kAgglomerative && job.range.high < 2)) {
    single_cluster(job, result);
  } else {
    switch (settings.method) {
      case Method::kVbxPlda:
        cluster_with_plda(job, result);
        break;
      case Method::kAgglomerative:
        cluster_agglomerative(job, result);
        break;
      case Method::kVbxIsotropic:
        cluster_isotropic(job, result);
        break;
    }
    assign_pairs(job, active, result);
  }
  result.hard_before_inactive = result.hard;
  for (std::size_t pair = 0; pair < active.size(); ++pair)
    if (!active[pair]) result.hard[pair] = -2;
  return result;
}

}  // namespace diarist::cluster
