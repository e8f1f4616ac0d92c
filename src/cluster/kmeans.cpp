#include "cluster/kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "cluster/matrix.hpp"
#include "cluster/parallel.hpp"
#include "cluster/random_state.hpp"

namespace diarist::cluster {
namespace {

constexpr int kRuns = 3;
constexpr int kMaxIterations = 300;
constexpr double kRelativeTolerance = 1e-4;
constexpr std::uint32_t kSeed = 42;
constexpr std::size_t kRowBlock = 256;  // rows per task

// Rows [n, dim] with their column means removed, and what does not change between runs.
struct Data {
  std::vector<float> values;
  std::vector<double> square;  // [n] squared norms
  std::size_t n = 0;
  std::size_t dim = 0;
  float tolerance = 0;
  base::TaskPool* pool = nullptr;
  std::stop_token stop;
  const float* row(std::size_t i) const { return values.data() + i * dim; }
};

// Plain sums in f64, in the order of multiply(): equal rows are at distance 0 exactly.
double square_of(const float* row, std::size_t dim) {
  double sum = 0;
  for (std::size_t d = 0; d < dim; ++d) sum += double{row[d]} * double{row[d]};
  return sum;
}

Data centred(std::span<const float> rows, std::size_t dim, base::TaskPool* pool,
             const std::stop_token& stop) {
  Data data;
  data.stop = stop;
  resize_in_parts(data.values, rows.size(), stop);
  std::copy(rows.begin(), rows.end(), data.values.begin());
  data.n = rows.size() / dim;
  data.dim = dim;
  data.pool = pool;
  const float count = static_cast<float>(data.n);
  std::vector<float> mean(dim, 0.0F), variance(dim, 0.0F);
  in_parts(data.n, stop, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t d = 0; d < dim; ++d) mean[d] += data.row(i)[d];
  });
  for (float& value : mean) value /= count;
  in_parts(data.n, stop, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t d = 0; d < dim; ++d) {
        const float difference = data.row(i)[d] - mean[d];
        variance[d] += difference * difference;
        data.values[i * dim + d] = difference;
      }
  });
  float sum = 0;
  for (const float value : variance) sum += value / count;
  data.tolerance = static_cast<float>(sum / static_cast<float>(dim) * kRelativeTolerance);
  in_parts(data.n, stop, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) data.square.push_back(square_of(data.row(i), dim));
  });
  return data;
}

// Dot products of all rows with `count` others [count, dim]: [n, count], in f64.
std::vector<double> dot_products(const Data& data, std::span<const float> others) {
  const std::size_t count = others.size() / data.dim;
  std::vector<double> transposed(others.size());
  for (std::size_t c = 0; c < count; ++c)
    for (std::size_t d = 0; d < data.dim; ++d) transposed[d * count + c] = others[c * data.dim + d];
  std::vector<double> dots;
  resize_in_parts(dots, data.n * count, data.stop);
  // Rows are widened per task: all of them at once would be the largest array of a long recording.
  parallel_for(data.pool, (data.n + kRowBlock - 1) / kRowBlock, data.stop, [&](std::size_t block) {
    const std::size_t first = block * kRowBlock, rows = std::min(kRowBlock, data.n - first);
    const std::vector<double> wide(data.row(first), data.row(first) + rows * data.dim);
    multiply({wide.data(), data.dim, 1}, transposed.data(), &dots[first * count], rows, data.dim,
             count, nullptr);
  });
  return dots;
}

// The reference adds these in f32 in an order of its own; the rounded f64 sum is as near as can be.
float sum_of(const std::vector<float>& values) {
  return static_cast<float>(std::accumulate(values.begin(), values.end(), 0.0));
}

std::vector<double> running_sums(const std::vector<float>& values) {
  std::vector<double> sums;
  sums.reserve(values.size());
  double total = 0;
  for (const float value : values) sums.push_back(total += value);
  return sums;
}

// Squared distances of all rows to some of them, [count][n]: |a|^2 - 2ab + |b|^2 in f64, clipped at
// 0, stored as f32.
std::vector<std::vector<float>> squared_distances(const Data& data,
                                                  const std::vector<std::size_t>& chosen) {
  std::vector<float> others;
  for (const std::size_t row : chosen)
    others.insert(others.end(), data.row(row), data.row(row) + data.dim);
  const std::vector<double> dots = dot_products(data, others);
  std::vector<std::vector<float>> distances(chosen.size(), std::vector<float>(data.n));
  for (std::size_t c = 0; c < chosen.size(); ++c)
    for (std::size_t i = 0; i < data.n; ++i) {
      const double value =
          data.square[chosen[c]] - 2 * dots[i * chosen.size() + c] + data.square[i];
      distances[c][i] = static_cast<float>(std::max(value, 0.0));
    }
  return distances;
}

// One weighted draw over equal weights: right-sided search in the normalised running sum.
std::size_t draw_row(const Data& data, RandomState& random) {
  std::vector<double> cumulative =
      running_sums(std::vector<float>(data.n, 1.0F / static_cast<float>(data.n)));
  const double last = cumulative.back();
  for (double& value : cumulative) value /= last;
  const auto it = std::upper_bound(cumulative.begin(), cumulative.end(), random.next());
  return std::min(static_cast<std::size_t>(it - cumulative.begin()), data.n - 1);
}

// k-means++: every further centre is the best of 2 + floor(ln k) trials.
std::vector<float> first_centres(const Data& data, int k, RandomState& random) {
  const int trials = 2 + static_cast<int>(std::log(k));
  std::vector<std::size_t> centres = {draw_row(data, random)};
  std::vector<float> closest = squared_distances(data, centres)[0];
  float potential = sum_of(closest);
  while (centres.size() < static_cast<std::size_t>(k)) {
    const std::vector<double> sums = running_sums(closest);
    std::vector<std::size_t> candidates;
    for (int t = 0; t < trials; ++t) {
      const double target = random.next() * potential;
      const auto it = std::lower_bound(sums.begin(), sums.end(), target);
      candidates.push_back(std::min(static_cast<std::size_t>(it - sums.begin()), data.n - 1));
    }
    std::vector<std::vector<float>> distances = squared_distances(data, candidates);
    std::size_t best = 0;
    float best_potential = 0;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      for (std::size_t i = 0; i < data.n; ++i)
        distances[c][i] = std::min(closest[i], distances[c][i]);
      const float trial_potential = sum_of(distances[c]);
      if (c > 0 && !(trial_potential < best_potential)) continue;
      best = c;
      best_potential = trial_potential;
    }
    closest = std::move(distances[best]);
    potential = best_potential;
    centres.push_back(candidates[best]);
  }
  std::vector<float> values;
  for (const std::size_t row : centres)
    values.insert(values.end(), data.row(row), data.row(row) + data.dim);
  return values;
}

// First minimum of |c|^2 - 2xc.
std::vector<std::int32_t> nearest(const Data& data, const std::vector<float>& centres, int k) {
  const std::size_t count = static_cast<std::size_t>(k);
  std::vector<float> square(count);
  for (std::size_t c = 0; c < count; ++c)
    square[c] = static_cast<float>(square_of(centres.data() + c * data.dim, data.dim));
  const std::vector<double> dots = dot_products(data, centres);
  std::vector<std::int32_t> labels(data.n);
  for (std::size_t i = 0; i < data.n; ++i) {
    if (i % kRowBlock == 0) base::check_stop(data.stop);
    float best = std::numeric_limits<float>::infinity();
    for (std::size_t c = 0; c < count; ++c) {
      const float value = square[c] - 2.0F * static_cast<float>(dots[i * count + c]);
      if (!(value < best)) continue;
      best = value;
      labels[i] = static_cast<std::int32_t>(c);
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
    if (i % kRowBlock == 0) base::check_stop(data.stop);
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
    in_parts(data.n, data.stop, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) error[i] = squared_error(data, centres, labels, i);
    });
    // Of equally far points the last one goes first.
    std::sort(far.begin(), far.end(), [&](std::size_t a, std::size_t b) {
      return error[a] != error[b] ? error[a] > error[b] : a > b;
    });
    // With fewer different points than clusters there is nothing to move.
    for (std::size_t e = 0; e < empty.size() && error[far[0]] > 0; ++e) {
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
  in_parts(data.n, data.stop, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      outcome.inertia += squared_error(data, centres, outcome.labels, i);
  });
  return outcome;
}

bool same_partition(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::map<std::int32_t, std::int32_t> partner;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (partner.emplace(a[i], b[i]).first->second != b[i]) return false;
  return true;
}

}  // namespace

std::vector<std::int32_t> kmeans(std::span<const float> rows, std::size_t dim, int k,
                                 base::TaskPool* pool, const std::stop_token& stop) {
  const Data data = centred(rows, dim, pool, stop);
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
