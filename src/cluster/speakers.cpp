#include "cluster/speakers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "cluster/agglomerative.hpp"
#include "cluster/hints.hpp"
#include "cluster/kmeans.hpp"
#include "cluster/linkage.hpp"
#include "cluster/parallel.hpp"
#include "cluster/rows.hpp"
#include "cluster/scores.hpp"
#include "cluster/training.hpp"
#include "cluster/vbx.hpp"

namespace diarist::cluster {
namespace {

constexpr double kPldaThreshold = 0.6;
constexpr double kIsotropicThreshold = 0.55;
constexpr double kKeptPrior = 1e-7;
constexpr std::size_t kRowsPerLook = 4096;  // rows added up before the next look at the stop token
// Preset "open" (campplus.md): x = u*sqrt(D / within), the same between-class variance everywhere.
constexpr double kWithin = 0.5;
constexpr double kBetween = 0.8;
constexpr double kIsotropicFb = 0.5;
constexpr double kIsotropicFaded = 1e-6;  // nine tenths of the columns after a few rounds

// What one clustering run works on.
struct Job {
  const Input& input;
  const Settings& settings;
  base::TaskPool* pool;
  std::stop_token stop;
  Training training;
  CountRange range;
  std::size_t dim = 0;
  bool one_to_one = true;  // one cluster per local speaker of a window
};

void set_clusters(Result& result, std::vector<double> centroids, std::size_t dim) {
  result.centroids = std::move(centroids);
  result.clusters = static_cast<int>(result.centroids.size() / dim);
}

std::vector<double> widened(const std::vector<float>& values, const std::stop_token& stop = {}) {
  std::vector<double> wide;
  resize_in_parts(wide, values.size(), stop);
  std::copy(values.begin(), values.end(), wide.begin());
  return wide;
}

// Fewer than two training pairs, or one speaker asked for: one cluster for everybody.
void single_cluster(const Job& job, Result& result) {
  std::vector<double> mean(job.dim, std::numeric_limits<double>::quiet_NaN());
  if (job.training.count() > 0) {
    const std::vector<std::int32_t> labels(job.training.count(), 0);
    mean = widened(cluster_means(job.training.rows, job.dim, labels, 1, job.stop));
    if (job.settings.method == Method::kVbxIsotropic) normalize_rows(mean, job.dim);
  }
  set_clusters(result, std::move(mean), job.dim);
  result.hard.assign(static_cast<std::size_t>(job.input.chunks) * kLocalSpeakers, 0);
}

void warn_too_few(const Job& job, int wanted, Result& result) {
  const std::size_t most = job.training.count();
  result.warnings.push_back(
      fmt::format("{} speakers asked for, but only {} stretch{} of speech {} long enough to tell "
                  "speakers apart",
                  wanted, most, most == 1 ? "" : "es", most == 1 ? "is" : "are"));
}

// The number of clusters to force, 0 when the found one fits (pipeline.md 11).
int forced_number(const Job& job, int found, Result& result) {
  int target = job.range.num.value_or(0);
  if (found < job.range.low) target = job.range.low;
  if (found > job.range.high) target = job.range.high;
  if (target == 0 || target == found) return 0;
  const int most = static_cast<int>(job.training.count());
  if (target > most) {
    // The reference has no result here; the preset "open" has none to be equal to.
    if (job.settings.reference && job.settings.method == Method::kVbxPlda)
      base::fail(ErrorCode::kUnsupported,
                 "{} speakers asked for, but only {} stretches of speech are long enough to tell "
                 "speakers apart; ask for fewer",
                 target, most);
    warn_too_few(job, target, result);
    target = most;
  }
  return target;
}

// k-means labels of the unit rows. Clusters without a row (fewer different rows than clusters) are
// kept for the reference, which gives them centroids of NaN, and dropped otherwise.
std::vector<std::int32_t> forced_labels(const Job& job, const std::vector<float>& unit, int target,
                                        int& clusters) {
  std::vector<std::int32_t> labels = kmeans(unit, job.dim, target, job.pool, job.stop);
  clusters = target;
  if (!job.settings.reference || job.settings.method == Method::kVbxIsotropic)
    clusters = renumber(labels);
  return labels;
}

std::vector<std::int32_t> initial_labels(const Job& job, const std::vector<float>& unit,
                                         double threshold) {
  return flat_clusters(
      centroid_linkage(unit, job.dim, job.pool, {.cut = threshold, .stop = job.stop}), threshold);
}

// Means of the training rows for every kept speaker, weighted with its responsibilities.
std::vector<double> weighted_means(const Job& job, const VbxResult& vb) {
  std::vector<std::size_t> kept;
  for (std::size_t s = 0; s < vb.speakers; ++s)
    if (vb.priors[s] > kKeptPrior) kept.push_back(s);
  std::vector<double> means(kept.size() * job.dim, 0.0);
  parallel_for(job.pool, kept.size(), [&](std::size_t k) {
    const std::span<double> sum(&means[k * job.dim], job.dim);
    const float* row = job.training.rows.data();
    double weight = 0;
    for (std::size_t t = 0; t < job.training.count(); ++t, row += job.dim) {
      if (t % kRowsPerLook == 0) base::check_stop(job.stop);
      const double gamma = vb.responsibilities[t * vb.speakers + kept[k]];
      weight += gamma;
      for (std::size_t d = 0; d < job.dim; ++d) sum[d] += gamma * row[d];
    }
    for (double& value : sum) value /= weight;
  });
  return means;
}

void cluster_with_plda(Job& job, Result& result) {
  const Training& training = job.training;
  const std::vector<float> unit = unit_rows(training.rows, job.dim, job.stop);
  result.initial_labels = initial_labels(job, unit, kPldaThreshold);
  job.settings.plda->features(training.rows, nullptr, result.features, job.pool, job.stop);
  VbxResult vb = vbx(result.features, job.settings.plda->psi, result.initial_labels,
                     {.stop = job.stop}, job.pool);
  std::vector<double> centroids = weighted_means(job, vb);
  result.responsibilities = std::move(vb.responsibilities);
  result.priors = std::move(vb.priors);
  result.elbo = std::move(vb.elbo);
  const int found = static_cast<int>(centroids.size() / job.dim);
  if (found == 0)  // only when the features are not numbers
    base::fail(ErrorCode::kBadModel,
               "the PLDA makes no numbers of these embeddings; import the bundle again, and the "
               "embeddings must come from its network");
  if (const int target = forced_number(job, found, result); target > 0) {
    job.one_to_one = false;
    int clusters = 0;
    const std::vector<std::int32_t> labels = forced_labels(job, unit, target, clusters);
    centroids = widened(cluster_means(training.rows, job.dim, labels,
                                      static_cast<std::size_t>(clusters), job.stop));
  }
  set_clusters(result, std::move(centroids), job.dim);
}

// Means of the unit rows per label, scaled to unit length, all in f64.
std::vector<double> unit_centroids(const std::vector<double>& unit, std::size_t dim,
                                   const std::vector<std::int32_t>& labels, int clusters,
                                   const std::stop_token& stop) {
  std::vector<double> centroids(static_cast<std::size_t>(clusters) * dim, 0.0);
  std::vector<double> sizes(static_cast<std::size_t>(clusters), 0.0);
  in_parts(labels.size(), stop, [&](std::size_t first, std::size_t last) {
    for (std::size_t t = first; t < last; ++t) {
      const std::size_t k = static_cast<std::size_t>(labels[t]);
      sizes[k] += 1;
      for (std::size_t d = 0; d < dim; ++d) centroids[k * dim + d] += unit[t * dim + d];
    }
  });
  for (std::size_t k = 0; k < sizes.size(); ++k)
    for (std::size_t d = 0; d < dim; ++d) centroids[k * dim + d] /= sizes[k];
  normalize_rows(centroids, dim);
  return centroids;
}

void cluster_isotropic(Job& job, Result& result) {
  const std::vector<float> unit = unit_rows(job.training.rows, job.dim, job.stop);
  result.initial_labels = initial_labels(job, unit, kIsotropicThreshold);
  const std::vector<double> wide = widened(unit, job.stop);
  std::vector<double> features;
  resize_in_parts(features, wide.size(), job.stop);
  const double scale = std::sqrt(static_cast<double>(job.dim) / kWithin);
  std::transform(wide.begin(), wide.end(), features.begin(),
                 [scale](double value) { return value * scale; });
  VbxResult vb = vbx(features, std::vector<double>(job.dim, kBetween), result.initial_labels,
                     {.fb = kIsotropicFb, .faded = kIsotropicFaded, .stop = job.stop}, job.pool);
  // A speaker is kept when it wins a row: with a constant variance unused ones fade slowly.
  std::vector<std::int32_t> labels;
  for (std::size_t t = 0; t < job.training.count(); ++t) {
    if (t % kRowsPerLook == 0) base::check_stop(job.stop);
    const auto row = vb.responsibilities.begin() + static_cast<std::ptrdiff_t>(t * vb.speakers);
    labels.push_back(static_cast<std::int32_t>(
        std::max_element(row, row + static_cast<std::ptrdiff_t>(vb.speakers)) - row));
  }
  int clusters = renumber(labels);
  result.responsibilities = std::move(vb.responsibilities);
  result.priors = std::move(vb.priors);
  result.elbo = std::move(vb.elbo);
  if (const int target = forced_number(job, clusters, result); target > 0) {
    job.one_to_one = false;
    labels = forced_labels(job, unit, target, clusters);
  }
  set_clusters(result, unit_centroids(wide, job.dim, labels, clusters, job.stop), job.dim);
}

void cluster_agglomerative(Job& job, Result& result) {
  const std::vector<float> unit = unit_rows(job.training.rows, job.dim, job.stop);
  std::vector<std::int32_t>& labels = result.initial_labels;
  labels = agglomerate(unit, job.dim, job.range, job.pool, job.stop);
  int clusters = *std::max_element(labels.begin(), labels.end()) + 1;
  // The tree may not offer the number asked for; the reference then misses it silently.
  if (!job.settings.reference && (clusters < job.range.low || clusters > job.range.high))
    labels =
        forced_labels(job, unit, std::clamp(clusters, job.range.low, job.range.high), clusters);
  job.one_to_one = false;
  set_clusters(result,
               widened(cluster_means(job.training.rows, job.dim, labels,
                                     static_cast<std::size_t>(clusters), job.stop)),
               job.dim);
}

// Embeddings that training should have used but can't.
void check_unusable(const Job& job, Result& result) {
  const Training& training = job.training;
  if (training.unusable > 0 && job.settings.reference)
    base::fail(ErrorCode::kUnsupported,
               "{} training embeddings are zero or infinite, which the reference refuses; run "
               "without its rules",
               training.unusable);
  if (training.unusable > 0)
    result.warnings.push_back(
        fmt::format("{} embeddings are zero or infinite and were left out", training.unusable));
  if (training.missing > 0 && job.settings.method != Method::kVbxIsotropic)
    result.warnings.push_back(
        fmt::format("{} embeddings are not numbers and were left out", training.missing));
}

void check_input(const Input& input, const Settings& settings) {
  const std::size_t chunks = static_cast<std::size_t>(std::max(input.chunks, 0));
  const std::size_t dim = static_cast<std::size_t>(std::max(input.dim, 0));
  if (input.chunks < 0 || input.dim < 1 || input.activity.size() != chunks * kFrames ||
      input.embeddings.size() != chunks * kLocalSpeakers * dim)
    base::fail(ErrorCode::kInvalidArgument,
               "{} activity and {} embedding values do not make {} windows of 589 frames and 3 "
               "embeddings of {}",
               input.activity.size(), input.embeddings.size(), input.chunks, input.dim);
  if (settings.method != Method::kVbxPlda) return;
  if (!settings.plda)
    base::fail(ErrorCode::kBadModel, "this preset needs a PLDA; import a bundle that has one");
  if (settings.plda->mean1.size() != dim)
    base::fail(ErrorCode::kInvalidArgument, "the PLDA takes embeddings of {} numbers, not {}",
               settings.plda->mean1.size(), input.dim);
}

}  // namespace

Result assign_speakers(const Input& input, const Settings& settings, base::TaskPool* pool,
                       const std::stop_token& stop) {
  check_hints(settings.hints, settings.reference);
  check_input(input, settings);
  Job job{input,
          settings,
          pool,
          stop,
          training_pairs(input, pool, stop),
          range_of(settings.hints),
          static_cast<std::size_t>(input.dim)};
  Result result;
  result.max_count = job.range.high == std::numeric_limits<int>::max() ? 0 : job.range.high;
  check_unusable(job, result);
  const std::vector<bool> active = active_pairs(input, stop);
  result.train_chunk = job.training.chunk;
  result.train_speaker = job.training.speaker;

  const bool agglomerative = settings.method == Method::kAgglomerative;
  const int trained = static_cast<int>(job.training.count());
  if (!settings.reference && job.range.low > std::max(trained, 1) && (agglomerative || trained < 2))
    warn_too_few(job, job.range.low, result);
  if (agglomerative) {
    job.range.low = std::max(1, std::min(trained, job.range.low));
    job.range.high = std::max(1, std::min(trained, job.range.high));
    if (job.range.low == job.range.high) job.range.num = job.range.low;
  }
  if (trained < 2 || (agglomerative && job.range.high < 2)) {
    single_cluster(job, result);
  } else {
    if (agglomerative)
      cluster_agglomerative(job, result);
    else if (settings.method == Method::kVbxPlda)
      cluster_with_plda(job, result);
    else
      cluster_isotropic(job, result);
    result.hard = assign_by_cosine(input, result.centroids, active,
                                   {.isotropic = settings.method == Method::kVbxIsotropic,
                                    .one_to_one = job.one_to_one,
                                    .reference = settings.reference},
                                   pool, stop);
  }
  result.hard_before_inactive = result.hard;
  for (std::size_t pair = 0; pair < active.size(); ++pair)
    if (!active[pair]) result.hard[pair] = -2;
  return result;
}

}  // namespace diarist::cluster
