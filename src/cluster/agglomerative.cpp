#include "cluster/agglomerative.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/run_control.hpp"
#include "cluster/linkage.hpp"
#include "cluster/rows.hpp"

namespace diarist::cluster {
namespace {

constexpr double kThreshold = 0.7045654963945799;
constexpr int kMinClusterSize = 12;

// Labels of clusters with at least `size` rows, and of the others, increasing.
struct Sizes {
  std::vector<std::int32_t> large, small;
};

Sizes sizes_of(const std::vector<std::int32_t>& labels, int size) {
  std::vector<int> counts(
      static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1, 0);
  for (const std::int32_t label : labels) ++counts[static_cast<std::size_t>(label)];
  Sizes sizes;
  for (std::size_t k = 0; k < counts.size(); ++k)
    (counts[k] >= size ? sizes.large : sizes.small).push_back(static_cast<std::int32_t>(k));
  return sizes;
}

// The cut by merge number whose count of large clusters comes nearest to `num`.
std::vector<std::int32_t> cut_for_number(const std::vector<Merge>& tree,
                                         std::vector<std::int32_t> labels, int num, int size,
                                         const std::stop_token& stop) {
  std::vector<double> number(tree.size());
  std::iota(number.begin(), number.end(), 0.0);
  std::vector<std::size_t> order(tree.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto distance = [&](std::size_t k) { return std::abs(tree[k].distance - kThreshold); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  std::size_t best_cut = tree.size();
  int best_number = 1;
  for (const std::size_t cut : order) {
    base::check_stop(stop);
    if (tree[cut].size < size) continue;
    labels = flat_clusters(tree, number, static_cast<double>(cut));
    const int large = static_cast<int>(sizes_of(labels, size).large.size());
    if (std::abs(large - num) < std::abs(best_number - num)) {
      best_cut = cut;
      best_number = large;
    }
    if (large == num) break;
  }
  if (best_number != num) labels = flat_clusters(tree, number, static_cast<double>(best_cut));
  return labels;
}

// Means in f32 of the rows of the given labels, widened and scaled to unit length.
std::vector<double> unit_means(std::span<const float> rows, std::size_t dim,
                               const std::vector<std::int32_t>& labels,
                               const std::vector<std::int32_t>& wanted) {
  const std::size_t clusters =
      static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1;
  const std::vector<float> means = cluster_means(rows, dim, labels, clusters);
  std::vector<double> result;
  for (const std::int32_t label : wanted) {
    const auto first =
        means.begin() + static_cast<std::ptrdiff_t>(label) * static_cast<std::ptrdiff_t>(dim);
    result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(dim));
  }
  normalize_rows(result, dim);
  return result;
}

}  // namespace

std::vector<std::int32_t> agglomerate(std::span<const float> rows, std::size_t dim,
                                      const CountRange& range, base::TaskPool* pool,
                                      const std::stop_token& stop) {
  const std::size_t count = rows.size() / dim;
  if (count == 1) return {0};
  const int size = std::min(
      kMinClusterSize, std::max(1, static_cast<int>(std::rint(0.1 * static_cast<double>(count)))));
  const std::vector<Merge> tree =
      centroid_linkage(rows, dim, pool, {.cut = kThreshold, .order = true, .stop = stop});
  std::vector<std::int32_t> labels = flat_clusters(tree, kThreshold);
  Sizes sizes = sizes_of(labels, size);
  const int large = static_cast<int>(sizes.large.size());
  std::optional<int> num = range.num;
  if (large < range.low) num = range.low;
  if (large > range.high) num = range.high;
  if (num && large != *num) {
    labels = cut_for_number(tree, std::move(labels), *num, size, stop);
    sizes = sizes_of(labels, size);
  }
  if (sizes.large.empty()) return std::vector<std::int32_t>(count, 0);
  if (sizes.small.empty()) return labels;
  // Every small cluster joins the large one with the nearest mean.
  const std::vector<double> big = unit_means(rows, dim, labels, sizes.large);
  const std::vector<double> little = unit_means(rows, dim, labels, sizes.small);
  std::vector<std::int32_t> target(
      static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1);
  std::iota(target.begin(), target.end(), 0);
  for (std::size_t s = 0; s < sizes.small.size(); ++s) {
    base::check_stop(stop);
    double best = 0;
    for (std::size_t b = 0; b < sizes.large.size(); ++b) {
      double dot = 0;
      for (std::size_t d = 0; d < dim; ++d) dot += big[b * dim + d] * little[s * dim + d];
      const double distance = 1 - dot;
      if (b > 0 && !(distance < best)) continue;
      best = distance;
      target[static_cast<std::size_t>(sizes.small[s])] = sizes.large[b];
    }
  }
  for (std::int32_t& label : labels) label = target[static_cast<std::size_t>(label)];
  renumber(labels);
  return labels;
}

}  // namespace diarist::cluster
