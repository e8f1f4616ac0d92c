#include "cluster/linkage.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "cluster/compact_linkage.hpp"
#include "cluster/distances.hpp"
#include "cluster/kernels.hpp"
#include "cluster/parallel.hpp"
#include "cluster/row_heap.hpp"

namespace diarist::cluster {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Clusters are named by a row of theirs; merging x and y (x < y) leaves y. For every row the
// nearest higher row is remembered; the remembered distance is a lower bound that may be out of
// date.
class Linkage {
 public:
  Linkage(CondensedDistances& distances, base::TaskPool* pool, std::stop_token stop)
      : stop_(std::move(stop)),
        distances_(distances),
        rows_(distances.count()),
        sizes_(rows_, 1),
        nodes_(rows_),
        neighbour_(rows_, kNone),
        bound_(rows_, kInfinity),
        dead_(rows_, 0.0),
        live_(rows_),
        heap_({}, {}) {
    std::iota(nodes_.begin(), nodes_.end(), 0);
    std::iota(live_.begin(), live_.end(), 0U);
    parallel_for(pool, (rows_ + kStrip - 1) / kStrip, [this](std::size_t strip) {
      const std::size_t last = std::min(rows_, (strip + 1) * kStrip);
      for (std::size_t row = strip * kStrip; row < last; ++row) search_neighbour(row);
    });
    heap_ = Heap({bound_.begin(), bound_.end() - 1}, {});
  }

  std::vector<Merge> run() {
    std::vector<Merge> tree;
    tree.reserve(rows_ - 1);
    while (live_.size() > 1) {
      base::check_stop(stop_);
      tree.push_back(merge_nearest());
      if (2 * live_.size() <= distances_.count()) drop_dead_rows();
    }
    return tree;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kStrip = 64;  // rows per task, distances per vector loop

  // Nearest live row above `row`, the first one among equals.
  void search_neighbour(std::size_t row) {
    const std::size_t first = row + 1;
    const Minimum nearest = first_minimum(distances_.row(row) + first, dead_.data() + first,
                                          distances_.count() - first);
    bound_[row] = nearest.value;
    neighbour_[row] =
        nearest.value < kInfinity ? static_cast<std::uint32_t>(first + nearest.place) : kNone;
  }

  Merge merge_nearest() {
    // Bounds only grow when they are refreshed, so this ends after one look at every row.
    for (;;) {
      const std::size_t row = heap_.top_row();
      const std::uint32_t other = neighbour_[row];
      if (other != kNone && heap_.top_value() == distances_.row(row)[other]) break;
      if (other == kNone)
        base::fail(ErrorCode::kInternal, "linkage of {} rows met a distance that is not a number",
                   rows_);
      search_neighbour(row);
      heap_.change(row, bound_[row]);
    }
    const std::size_t x = heap_.top_row();
    const std::size_t y = neighbour_[x];
    const double distance = heap_.top_value();
    heap_.remove_top();
    const Union both{static_cast<double>(sizes_[x]), static_cast<double>(sizes_[y]), distance};
    const Merge merge{std::min(nodes_[x], nodes_[y]), std::max(nodes_[x], nodes_[y]), distance,
                      sizes_[x] + sizes_[y]};
    sizes_[y] = merge.size;
    nodes_[y] = static_cast<std::int32_t>(rows_ + merges_++);
    live_.erase(std::lower_bound(live_.begin(), live_.end(), x));
    dead_[x] = kInfinity;
    std::replace(neighbour_.begin(), neighbour_.begin() + static_cast<std::ptrdiff_t>(x),
                 static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));

    // Distance of every other cluster to the merged centroid.
    const auto above_x = std::lower_bound(live_.begin(), live_.end(), x);
    const auto at_y = std::lower_bound(above_x, live_.end(), y);
    double* const row_x = distances_.row(x);
    double* const row_y = distances_.row(y);
    const auto cell = [this](std::size_t column) {
      return [this, column](std::uint32_t z) { return distances_.row(z) + column; };
    };
    const auto come_nearer = [&](std::uint32_t z, double to_y) {
      if (!(to_y < bound_[z])) return;
      neighbour_[z] = static_cast<std::uint32_t>(y);
      bound_[z] = to_y;
      heap_.change(z, to_y);
    };
    const auto in_row = [](double* row) { return [row](std::uint32_t z) { return row + z; }; };
    update(both, {live_.begin(), above_x}, cell(x), cell(y), come_nearer);
    update(both, {above_x, at_y}, in_row(row_x), cell(y), come_nearer);
    update(both, {at_y + 1, live_.end()}, in_row(row_x), in_row(row_y),
           [](std::uint32_t, double) {});
    if (y + 1 < distances_.count()) {
      search_neighbour(y);
      // Without a live row above it y keeps its old place in the heap, as in the reference; it is
      // refreshed when it comes up.
      if (neighbour_[y] != kNone) heap_.change(y, bound_[y]);
    }
    return merge;
  }

  // New distances of the clusters z to the union: at_x(z) and at_y(z) say where the old ones lie,
  // the new one takes the place of the second. Most of these places are far apart, so they are
  // asked for one strip ahead.
  template <typename AtX, typename AtY, typename Then>
  void update(const Union& both, std::span<const std::uint32_t> others, const AtX& at_x,
              const AtY& at_y, const Then& then) {
    double to_x[kStrip] = {}, to_y[kStrip] = {};
    for (std::size_t first = 0; first < others.size(); first += kStrip) {
      const std::span<const std::uint32_t> strip =
          others.subspan(first, std::min(kStrip, others.size() - first));
      for (std::size_t i = 0; i < strip.size(); ++i) {
        to_x[i] = *at_x(strip[i]);
        to_y[i] = *at_y(strip[i]);
        if (first + kStrip + i >= others.size()) continue;
        const std::uint32_t ahead = others[first + kStrip + i];
        __builtin_prefetch(at_x(ahead));
        __builtin_prefetch(at_y(ahead), 1);
      }
      merged_distances(both, to_x, to_y, (strip.size() + kTile - 1) / kTile * kTile, to_y);
      for (std::size_t i = 0; i < strip.size(); ++i) {
        *at_y(strip[i]) = to_y[i];
        then(strip[i], to_y[i]);
      }
    }
  }

  // Numbers what is left from 0 on, so that it lies close together. The order of rows, which
  // decides among equal distances, stays.
  void drop_dead_rows() {
    std::vector<std::uint32_t> numbers(distances_.count(), kNone);
    for (std::size_t i = 0; i < live_.size(); ++i)
      numbers[live_[i]] = static_cast<std::uint32_t>(i);
    distances_.keep(live_, stop_);
    for (std::size_t i = 0; i < live_.size(); ++i) {
      const std::uint32_t row = live_[i];
      sizes_[i] = sizes_[row];
      nodes_[i] = nodes_[row];
      bound_[i] = bound_[row];
      neighbour_[i] = neighbour_[row] == kNone ? kNone : numbers[neighbour_[row]];
    }
    heap_.renumber(numbers);
    std::iota(live_.begin(), live_.end(), 0U);
    std::fill(dead_.begin(), dead_.end(), 0.0);
  }

  using Heap = RowHeap<double, std::less<>>;
  std::stop_token stop_;
  CondensedDistances& distances_;
  std::size_t rows_;  // of the beginning
  std::vector<std::int32_t> sizes_;
  std::vector<std::int32_t> nodes_;
  std::vector<std::uint32_t> neighbour_;
  std::vector<double> bound_;
  std::vector<double> dead_;         // infinity for rows that were merged into another, else 0
  std::vector<std::uint32_t> live_;  // increasing
  std::size_t merges_ = 0;
  Heap heap_;
};

}  // namespace

std::vector<Merge> centroid_linkage(std::span<const float> rows, std::size_t dim,
                                    base::TaskPool* pool, const LinkageOptions& options) {
  const std::size_t count = dim == 0 ? 0 : rows.size() / dim;
  if (count < 2) return {};
  if (count > options.most_stored_rows)
    if (auto tree = compact_linkage(rows, dim, options, pool)) return *std::move(tree);
  CondensedDistances distances(rows, dim, pool, options.stop);
  return Linkage(distances, pool, options.stop).run();
}

std::vector<std::int32_t> flat_clusters(std::span<const Merge> tree, std::span<const double> keys,
                                        double threshold) {
  const std::int32_t rows = static_cast<std::int32_t>(tree.size()) + 1;
  std::vector<std::int32_t> labels(static_cast<std::size_t>(rows), 0);
  if (tree.empty()) return labels;
  const auto merge_index = [rows](std::int32_t node) {
    return static_cast<std::size_t>(node - rows);
  };
  // Largest key anywhere inside a subtree: centroid linkage has inversions.
  std::vector<double> height(tree.size());
  for (std::size_t k = 0; k < tree.size(); ++k) {
    height[k] = keys[k];
    for (const std::int32_t child : {tree[k].left, tree[k].right})
      if (child >= rows) height[k] = std::max(height[k], height[merge_index(child)]);
  }
  std::vector<bool> visited(tree.size(), false);
  std::vector<std::size_t> stack = {tree.size() - 1};
  std::int32_t clusters = 0;
  bool open = false;
  std::size_t owner = 0;  // node that opened the cluster
  while (!stack.empty()) {
    const std::size_t k = stack.back();
    if (!open && height[k] <= threshold) {
      open = true;
      owner = k;
      ++clusters;
    }
    bool descended = false;
    for (const std::int32_t child : {tree[k].left, tree[k].right}) {
      if (child < rows || visited[merge_index(child)]) continue;
      visited[merge_index(child)] = true;
      stack.push_back(merge_index(child));
      descended = true;
      break;
    }
    if (descended) continue;
    for (const std::int32_t child : {tree[k].left, tree[k].right}) {
      if (child >= rows) continue;
      if (!open) ++clusters;
      labels[static_cast<std::size_t>(child)] = clusters - 1;
    }
    if (open && owner == k) open = false;
    stack.pop_back();
  }
  return labels;
}

std::vector<std::int32_t> flat_clusters(std::span<const Merge> tree, double threshold) {
  std::vector<double> keys(tree.size());
  std::transform(tree.begin(), tree.end(), keys.begin(),
                 [](const Merge& merge) { return merge.distance; });
  return flat_clusters(tree, keys, threshold);
}

}  // namespace diarist::cluster
