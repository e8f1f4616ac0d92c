#include "cluster/kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "cluster/random_state.hpp"

namespace diarist::cluster {
namespace {

constexpr int kRuns = 3;
constexpr int kMaxIterations = 300;
constexpr double kRelativeTolerance = 1e-4;
constexpr std::uint32_t kSeed = 42;

// Rows [n, dim] with their column means removed, and what does not change between runs.
struct Data {
  std::vector<float> values;
  std::size_t n = 0;
  std::size_t dim = 0;
  float tolerance = 0;
  const float* row(std::size_t i) const { return values.data() + i * dim; }
};

Data centred(std::span<const float> rows, std::size_t dim) {
  Data data{{rows.begin(), rows.end()}, rows.size() / dim, dim, 0};
  const float count = static_cast<float>(data.n);
  std::vector<float> mean(dim, 0.0F), variance(dim, 0.0F);
  for (std::size_t i = 0; i < data.n; ++i)
    for (std::size_t d = 0; d < dim; ++d) mean[d] += data.row(i)[d];
  for (float& value : mean) value /= count;
  for (std::size_t i = 0; i < data.n; ++i)
    for (std::size_t d = 0; d < dim; ++d) {
      const float difference = data.row(i)[d] - mean[d];
      variance[d] += difference * difference;
      data.values[i * dim + d] = difference;
    }
  float sum = 0;
  for (const float value : variance) sum += value / count;
  data.tolerance = static_cast<float>(sum / static_cast<float>(dim) * kRelativeTolerance);
  return data;
}

double dot(const float* a, const float* b, std::size_t dim) {
  double sum = 0;
  for (std::size_t d = 0; d < dim; ++d) sum += double{a[d]} * double{b[d]};
  return sum;
}

// |a|^2 - 2ab + |b|^2 in f64, clipped at 0, stored as f32.
float squared_distance(const float* a, const float* b, std::size_t dim) {
  const double value = dot(a, a, dim) - 2 * dot(a, b, dim) + dot(b, b, dim);
  return static_cast<float>(std::max(value, 0.0));
}

float sum_of(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0F);
}

std::vector<double> running_sums(const std::vector<float>& values) {
  std::vector<double> sums;
  double total = 0;
  for (const float value : values) sums.push_back(total += value);
  return sums;
}

// k-means++: every further centre is the best of 2 + floor(ln k) trials.
std::vector<float> first_centres(const Data& data, int k, RandomState& random) {
  const int trials = 2 + static_cast<int>(std::log(k));
  // One weighted draw over equal weights: right-sided search in the normalised running sum.
  std::vector<double> cumulative =
      running_sums(std::vector<float>(data.n, 1.0F / static_cast<float>(data.n)));
  const double last = cumulative.back();
  for (double& value : cumulative) value /= last;
  const std::size_t first = static_cast<std::size_t>(
      std::upper_bound(cumulative.begin(), cumulative.end(), random.next()) - cumulative.begin());
  std::vector<float> centres(data.row(first), data.row(first) + data.dim);
  std::vector<float> closest(data.n);
  for (std::size_t i = 0; i < data.n; ++i)
    closest[i] = squared_distance(data.row(first), data.row(i), data.dim);
  float potential = sum_of(closest);
  for (int c = 1; c < k; ++c) {
    const std::vector<double> sums = running_sums(closest);
    std::vector<std::size_t> candidates;
    for (int t = 0; t < trials; ++t) {
      const double target = random.next() * potential;
      const auto it = std::lower_bound(sums.begin(), sums.end(), target);
      candidates.push_back(std::min(static_cast<std::size_t>(it - sums.begin()), data.n - 1));
    }
    std::vector<float> best_closest;
    float best_potential = 0;
    std::size_t best = 0;
    for (const std::size_t candidate : candidates) {
      std::vector<float> trial(data.n);
      for (std::size_t i = 0; i < data.n; ++i)
        trial[i] =
            std::min(closest[i], squared_distance(data.row(candidate), data.row(i), data.dim));
      const float trial_potential = sum_of(trial);
      if (!best_closest.empty() && !(trial_potential < best_potential)) continue;
      best_closest = std::move(trial);
      best_potential = trial_potential;
      best = candidate;
    }
    closest = std::move(best_closest);
    potential = best_potential;
    centres.insert(centres.end(), data.row(best), data.row(best) + data.dim);
  }
  return centres;
}

// First minimum of |c|^2 - 2xc.
std::vector<std::int32_t> nearest(const Data& data, const std::vector<float>& centres, int k) {
  std::vector<float> square(static_cast<std::size_t>(k));
  const auto centre = [&](int c) {
    return centres.data() + static_cast<std::size_t>(c) * data.dim;
  };
  for (int c = 0; c < k; ++c)
    square[static_cast<std::size_t>(c)] = static_cast<float>(dot(centre(c), centre(c), data.dim));
  std::vector<std::int32_t> labels(data.n);
  for (std::size_t i = 0; i < data.n; ++i) {
    float best = std::numeric_limits<float>::infinity();
    for (int c = 0; c < k; ++c) {
      const float value = square[static_cast<std::size_t>(c)] -
                          2.0F * static_cast<float>(dot(data.row(i), centre(c), data.dim));
      if (value < best) {
        best = value;
        labels[i] = c;
      }
    }
  }
  return labels;
}

double squared_error(const Data& data, const std::vector<float>& centres,
                     const std::vector<std::int32_t>& labels, std::size_t i) {
  const float* centre = centres.data() + static_cast<std::size_t>(labels[i]) * data.dim;
  float sum = 0;
  for (std::size_t d = 0; d < data.dim; ++d) {
    const float difference = data.row(i)[d] - centre[d];
    sum += difference * difference;
  }
  return sum;
}

// Means per label; empty clusters take the points that lie farthest from their centres.
std::vector<float> means(const Data& data, const std::vector<float>& centres,
                         const std::vector<std::int32_t>& labels, int k) {
  std::vector<float> sums(centres.size(), 0.0F);
  std::vector<int> counts(static_cast<std::size_t>(k), 0);
  for (std::size_t i = 0; i < data.n; ++i) {
    const std::size_t label = static_cast<std::size_t>(labels[i]);
    ++counts[label];
    for (std::size_t d = 0; d < data.dim; ++d) sums[label * data.dim + d] += data.row(i)[d];
  }
  std::vector<std::size_t> empty;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] == 0) empty.push_back(c);
  if (!empty.empty()) {
    std::vector<std::size_t> far(data.n);
    std::iota(far.begin(), far.end(), std::size_t{0});
    std::vector<double> error(data.n);
    for (std::size_t i = 0; i < data.n; ++i) error[i] = squared_error(data, centres, labels, i);
    std::stable_sort(far.begin(), far.end(),
                     [&](std::size_t a, std::size_t b) { return error[a] > error[b]; });
    for (std::size_t e = 0; e < empty.size(); ++e) {
      const std::size_t point = far[e];
      const std::size_t old = static_cast<std::size_t>(labels[point]);
      for (std::size_t d = 0; d < data.dim; ++d) {
        sums[old * data.dim + d] -= data.row(point)[d];
        sums[empty[e] * data.dim + d] = data.row(point)[d];
      }
      counts[empty[e]] = 1;
      --counts[old];
    }
  }
  for (std::size_t c = 0; c < counts.size(); ++c)
    for (std::size_t d = 0; d < data.dim; ++d)
      sums[c * data.dim + d] /= static_cast<float>(std::max(counts[c], 1));
  return sums;
}

float summed_shift(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

struct Outcome {
  std::vector<std::int32_t> labels;
  double inertia = 0;
};

Outcome lloyd(const Data& data, std::vector<float> centres, int k) {
  Outcome outcome;
  bool repeated = false;
  for (int iteration = 0; iteration < kMaxIterations && !repeated; ++iteration) {
    std::vector<std::int32_t> labels = nearest(data, centres, k);
    std::vector<float> moved = means(data, centres, labels, k);
    repeated = labels == outcome.labels;
    const float shift = summed_shift(moved, centres);
    outcome.labels = std::move(labels);
    centres = std::move(moved);
    if (!repeated && shift <= data.tolerance) break;
  }
  if (!repeated) outcome.labels = nearest(data, centres, k);
  for (std::size_t i = 0; i < data.n; ++i)
    outcome.inertia += squared_error(data, centres, outcome.labels, i);
  return outcome;
}

bool same_partition(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::map<std::int32_t, std::int32_t> partner;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (partner.emplace(a[i], b[i]).first->second != b[i]) return false;
  return true;
}

}  // namespace

std::vector<std::int32_t> kmeans(std::span<const float> rows, std::size_t dim, int k) {
  const Data data = centred(rows, dim);
  RandomState random(kSeed);
  Outcome best;
  for (int run = 0; run < kRuns; ++run) {
    Outcome outcome = lloyd(data, first_centres(data, k, random), k);
    if (run == 0 ||
        (outcome.inertia < best.inertia && !same_partition(outcome.labels, best.labels)))
      best = std::move(outcome);
  }
  return best.labels;
}

}  // namespace diarist::cluster
