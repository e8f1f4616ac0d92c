#include "cluster/linkage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>

#include "base/error.hpp"
#include "cluster/distances.hpp"

namespace diarist::cluster {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A binary min-heap of row numbers. Items move on strict inequality only, and of two children the
// right one is taken only when it is strictly smaller: this decides among equal distances.
class RowHeap {
 public:
  explicit RowHeap(std::vector<double> values)
      : values_(std::move(values)), rows_(values_.size()), slots_(values_.size()) {
    std::iota(rows_.begin(), rows_.end(), std::size_t{0});
    std::iota(slots_.begin(), slots_.end(), std::size_t{0});
    size_ = values_.size();
    for (std::size_t i = size_ / 2; i > 0; --i) sink(i - 1);
  }

  std::size_t top_row() const { return rows_[0]; }
  double top_value() const { return values_[0]; }

  void remove_top() {
    swap_slots(0, --size_);
    sink(0);
  }

  void change(std::size_t row, double value) {
    const std::size_t slot = slots_[row];
    const double old = values_[slot];
    values_[slot] = value;
    if (value < old)
      rise(slot);
    else
      sink(slot);
  }

 private:
  void swap_slots(std::size_t a, std::size_t b) {
    std::swap(values_[a], values_[b]);
    std::swap(rows_[a], rows_[b]);
    slots_[rows_[a]] = a;
    slots_[rows_[b]] = b;
  }

  void rise(std::size_t slot) {
    for (; slot > 0 && values_[(slot - 1) / 2] > values_[slot]; slot = (slot - 1) / 2)
      swap_slots(slot, (slot - 1) / 2);
  }

  void sink(std::size_t slot) {
    for (;;) {
      std::size_t child = 2 * slot + 1;
      if (child >= size_) return;
      if (child + 1 < size_ && values_[child + 1] < values_[child]) ++child;
      if (!(values_[slot] > values_[child])) return;
      swap_slots(slot, child);
      slot = child;
    }
  }

  std::vector<double> values_;      // by slot
  std::vector<std::size_t> rows_;   // by slot
  std::vector<std::size_t> slots_;  // by row
  std::size_t size_ = 0;
};

// Clusters are named by a row of theirs; merging x and y (x < y) leaves y. For every row the
// nearest higher row is remembered; the remembered distance is a lower bound that may be out of
// date.
class Linkage {
 public:
  explicit Linkage(CondensedDistances& distances)
      : distances_(distances),
        count_(distances.count()),
        sizes_(count_, 1),
        nodes_(count_),
        neighbour_(count_ - 1),
        bound_(count_ - 1),
        live_(count_),
        heap_({}) {
    std::iota(nodes_.begin(), nodes_.end(), 0);
    std::iota(live_.begin(), live_.end(), std::size_t{0});
    for (std::size_t row = 0; row + 1 < count_; ++row) search_neighbour(row);
    heap_ = RowHeap(bound_);
  }

  std::vector<Merge> run() {
    std::vector<Merge> tree;
    tree.reserve(count_ - 1);
    while (tree.size() + 1 < count_) tree.push_back(merge_nearest());
    return tree;
  }

 private:
  // Nearest live row above `row`, the first one among equals.
  void search_neighbour(std::size_t row) {
    std::size_t best = count_;
    double least = kInfinity;
    auto other = std::upper_bound(live_.begin(), live_.end(), row);
    const double* distance = distances_.row(row);
    for (; other != live_.end(); ++other) {
      if (distance[*other] < least) {
        least = distance[*other];
        best = *other;
      }
    }
    neighbour_[row] = best;
    bound_[row] = least;
  }

  Merge merge_nearest() {
    // Bounds only grow when they are refreshed, so this ends after one look at every row.
    for (;;) {
      const std::size_t row = heap_.top_row();
      const std::size_t other = neighbour_[row];
      if (other < count_ && heap_.top_value() == distances_.row(row)[other]) break;
      if (other >= count_)
        base::fail(ErrorCode::kInternal, "linkage of {} rows met a distance that is not a number",
                   count_);
      search_neighbour(row);
      heap_.change(row, bound_[row]);
    }
    const std::size_t x = heap_.top_row();
    const std::size_t y = neighbour_[x];
    const double distance = heap_.top_value();
    heap_.remove_top();
    const double size_x = sizes_[x];
    const double size_y = sizes_[y];
    const Merge merge{std::min(nodes_[x], nodes_[y]), std::max(nodes_[x], nodes_[y]), distance,
                      sizes_[x] + sizes_[y]};
    sizes_[x] = 0;
    sizes_[y] = merge.size;
    nodes_[y] = static_cast<std::int32_t>(count_ + merges_++);
    live_.erase(std::lower_bound(live_.begin(), live_.end(), x));

    // Distance of every other cluster to the merged centroid.
    const double total = size_x + size_y;
    const double shrink = (size_x * size_y * distance * distance) / total;
    for (const std::size_t z : live_) {
      if (z == y) continue;
      double& to_y = distances_.between(z, y);
      const double to_x = distances_.between(z, x);
      // Rounding may push the square of a distance of zero below zero.
      const double square = (((size_x * to_x * to_x) + (size_y * to_y * to_y)) - shrink) / total;
      to_y = std::sqrt(std::max(square, 0.0));
      if (z < x && neighbour_[z] == x) neighbour_[z] = y;
      if (z < y && to_y < bound_[z]) {
        neighbour_[z] = y;
        bound_[z] = to_y;
        heap_.change(z, to_y);
      }
    }
    if (y + 1 < count_) {
      search_neighbour(y);
      // Without a live row above it y keeps its old place in the heap, as in the reference; it is
      // refreshed when it comes up.
      if (neighbour_[y] < count_) heap_.change(y, bound_[y]);
    }
    return merge;
  }

  CondensedDistances& distances_;
  std::size_t count_;
  std::vector<std::int32_t> sizes_;
  std::vector<std::int32_t> nodes_;
  std::vector<std::size_t> neighbour_;  // count_: none
  std::vector<double> bound_;
  std::vector<std::size_t> live_;  // increasing
  std::size_t merges_ = 0;
  RowHeap heap_;
};

}  // namespace

std::vector<Merge> centroid_linkage(std::span<const float> rows, std::size_t dim,
                                    base::TaskPool* pool) {
  const std::size_t count = dim == 0 ? 0 : rows.size() / dim;
  if (count < 2) return {};
  CondensedDistances distances(rows, dim, pool);
  return Linkage(distances).run();
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
