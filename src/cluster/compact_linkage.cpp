#include "cluster/compact_linkage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "cluster/exact_distances.hpp"
#include "cluster/neighbour_cells.hpp"
#include "cluster/parallel.hpp"
#include "cluster/row_heap.hpp"
#include "cluster/scan_kernels.hpp"

namespace diarist::cluster {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnknown = -1;
constexpr double kRoundoff = std::numeric_limits<double>::epsilon() / 2;
constexpr double kCodeLength = 32000;  // of the longest row: squares of codes stay below 2^30
constexpr std::size_t kRowBlock = 64;  // rows per task

// A distance of two nodes, at the time when both stood side by side.
struct Distance {
  std::int32_t later = -1, earlier = -1;
  double square = kInfinity;  // estimate
  double margin = 0;          // of the estimate, either way
  double exact = kUnknown;
  double low() const { return square - margin; }
  double high() const { return square + margin; }
};

class Judge {
 public:
  explicit Judge(ExactDistances& distances) : distances_(&distances) {}

  bool operator()(Distance& a, Distance& b) const { return less(a, b); }

  bool less(Distance& a, Distance& b) const {
    if (same_nodes(a, b)) return false;
    if (a.exact >= 0 && b.exact >= 0) return a.exact < b.exact;
    if (a.high() < b.low()) return true;
    if (a.low() > b.high()) return false;
    return exact(a) < exact(b);
  }

  bool equal(Distance& a, Distance& b) const {
    if (same_nodes(a, b)) return true;
    if (a.high() < b.low() || a.low() > b.high()) return false;
    return exact(a) == exact(b);
  }

  double exact(Distance& a) const {
    if (a.exact < 0) a.exact = a.later < 0 ? kInfinity : distances_->value(a.later, a.earlier);
    return a.exact;
  }

 private:
  static bool same_nodes(const Distance& a, const Distance& b) {
    return a.later == b.later && a.earlier == b.earlier;
  }

  ExactDistances* distances_;
};

// Centroids of the clusters, by the row that names them: rows as they came, means in f64.
class Centroids {
 public:
  Centroids(std::span<const float> rows, std::size_t dim)
      : rows_(rows), dim_(dim), means_(rows.size() / dim) {}

  /// The mean, or the row, widened into `room`.
  const double* at(std::uint32_t row, std::vector<double>& room) const {
    if (means_[row]) return means_[row].get();
    room.assign(rows_.begin() + static_cast<std::ptrdiff_t>(row * dim_),
                rows_.begin() + static_cast<std::ptrdiff_t>((row + 1) * dim_));
    return room.data();
  }

  /// y becomes the weighted mean of both, x leaves.
  const double* merge(std::uint32_t x, double weight_x, std::uint32_t y, double weight_y) {
    const double* from_x = at(x, room_x_);
    const double* from_y = at(y, room_y_);
    std::unique_ptr<double[]> mean = std::move(spare_);
    if (!mean) mean.reset(new double[dim_]);
    for (std::size_t d = 0; d < dim_; ++d) mean[d] = weight_x * from_x[d] + weight_y * from_y[d];
    spare_ = std::move(means_[x]);
    if (!spare_) spare_ = std::move(means_[y]);
    means_[y] = std::move(mean);
    return means_[y].get();
  }

 private:
  std::span<const float> rows_;
  std::size_t dim_;
  std::vector<std::unique_ptr<double[]>> means_;  // by row; null: the row itself
  std::unique_ptr<double[]> spare_;
  std::vector<double> room_x_, room_y_;
};

struct Cluster {
  std::int32_t node = 0;
  double size = 1;
  double update_error = 0;    // its part of the error of exact squares against true ones
  double centroid_error = 0;  // distance of the mean as stored from the true one
  double error = 0;           // its part of the margin of an estimate
};

struct Scratch {
  NeighbourCells::Scratch cells;
  std::vector<std::uint32_t> found;
  std::vector<double> here, there;  // centroids
};

// The algorithm of Linkage in linkage.cpp, step by step; only how rows are found differs.
class CompactLinkage {
 public:
  CompactLinkage(std::span<const float> rows, std::size_t dim, const LinkageOptions& options,
                 base::TaskPool* pool)
      : options_(options),
        pool_(pool),
        dim_(dim),
        count_(rows.size() / dim),
        centroids_(rows, dim),
        exact_(rows, dim),
        judge_(exact_),
        clusters_(count_),
        neighbour_(count_),
        forward_(count_),
        cells_(count_, (dim + kCodeStep - 1) / kCodeStep * kCodeStep),
        heap_({}, judge_) {
    measure_rows(rows);
    std::iota(forward_.begin(), forward_.end(), 0U);
    std::vector<std::int16_t> codes(count_ * width());
    parallel_for(pool, (count_ + kRowBlock - 1) / kRowBlock, [&](std::size_t block) {
      std::vector<double> room;
      for (std::size_t row = block * kRowBlock; row < std::min(count_, (block + 1) * kRowBlock);
           ++row)
        encode(centroids_.at(static_cast<std::uint32_t>(row), room), &codes[row * width()]);
    });
    cells_.build(codes, pool);
    codes = {};
    find_all_neighbours();
  }

  std::vector<Merge> run() {
    std::vector<Merge> tree;
    tree.reserve(count_ - 1);
    built_ = count_;
    while (tree.size() + 1 < count_) {
      base::check_stop(options_.stop);
      tree.push_back(merge_nearest());
      if (2 * cells_.count() > built_) continue;
      cells_.build({}, pool_);
      built_ = cells_.count();
    }
    settle(tree);
    return tree;
  }

 private:
  std::size_t width() const { return (dim_ + kCodeStep - 1) / kCodeStep * kCodeStep; }

  // Scale of the codes, and errors in units of the largest square of a distance.
  void measure_rows(std::span<const float> rows) {
    double longest = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      double square = 0;
      for (const float x : rows.subspan(i * dim_, dim_)) square += double{x} * double{x};
      if (!std::isfinite(square))
        base::fail(ErrorCode::kInternal, "linkage of {} rows met a distance that is not a number",
                   count_);
      longest = std::max(longest, square);
    }
    radius_ = std::sqrt(longest);
    scale_ = radius_ > 0 ? kCodeLength / radius_ : 1;
    largest_square_ = 4.001 * longest;
    code_error_ = 0.5 * std::sqrt(static_cast<double>(dim_)) + 0.01;
    const double terms = static_cast<double>(dim_) + 8;
    for (std::size_t i = 0; i < count_; ++i) {
      clusters_[i].node = static_cast<std::int32_t>(i);
      clusters_[i].update_error = 0.5 * terms * kRoundoff * largest_square_;
      clusters_[i].error = error_of(clusters_[i]);
    }
    most_error_ = 16 * clusters_[0].error;
  }

  double error_of(const Cluster& cluster) const {
    const double estimate = 0.5 * (static_cast<double>(dim_) + 8) * kRoundoff * largest_square_;
    return 2 * (cluster.update_error + 4.1 * radius_ * cluster.centroid_error + estimate);
  }

  void encode(const double* centroid, std::int16_t* numbers) const {
    for (std::size_t d = 0; d < dim_; ++d)
      numbers[d] = static_cast<std::int16_t>(std::lrint(centroid[d] * scale_));
    std::fill(numbers + dim_, numbers + width(), std::int16_t{0});
  }

  // How much farther than the nearest code the code of the nearest cluster may be.
  double gap() const { return 4 * code_error_ + 2 * scale_ * std::sqrt(most_error_); }

  // A code that is farther away belongs to a cluster that is not nearer than the bound.
  float reach_of(const Distance& bound) const {
    return static_cast<float>(
        (scale_ * std::sqrt(bound.high() + 2 * most_error_) + 2 * code_error_) * 1.000001);
  }

  Distance distance(std::uint32_t a, std::uint32_t b, const double* centroid_a,
                    std::vector<double>& room) const {
    Distance made;
    made.later = std::max(clusters_[a].node, clusters_[b].node);
    made.earlier = std::min(clusters_[a].node, clusters_[b].node);
    made.square = square_distance(centroid_a, centroids_.at(b, room), dim_);
    made.margin = clusters_[a].error + clusters_[b].error;
    return made;
  }

  // The first of the nearest among the rows found. Not for two threads when it is close.
  Distance pick(std::uint32_t row, const double* centroid, Scratch& scratch,
                std::uint32_t& neighbour) const {
    Distance best;
    for (const std::uint32_t each : scratch.found) {
      Distance to_each = distance(row, each, centroid, scratch.there);
      if (best.later >= 0 && !judge_.less(to_each, best)) continue;
      best = to_each;
      neighbour = each;
    }
    return best;
  }

  void find_all_neighbours() {
    std::vector<std::vector<std::uint32_t>> unclear(count_);
    std::vector<Distance> bounds(count_ - 1);
    parallel_for(pool_, (count_ + kRowBlock - 1) / kRowBlock, [&](std::size_t block) {
      base::check_stop(options_.stop);
      Scratch scratch;
      for (std::size_t i = block * kRowBlock; i < std::min(count_ - 1, (block + 1) * kRowBlock);
           ++i) {
        const std::uint32_t row = static_cast<std::uint32_t>(i);
        const Code code = cells_.code(row);
        cells_.measure(code, scratch.cells);
        cells_.nearest(code, row, gap(), scratch.cells, scratch.found);
        const double* centroid = centroids_.at(row, scratch.here);
        // Estimates alone, side by side; what is close is decided afterwards.
        double high = kInfinity;
        std::vector<Distance> all;
        for (const std::uint32_t each : scratch.found) {
          all.push_back(distance(row, each, centroid, scratch.there));
          high = std::min(high, all.back().high());
        }
        for (std::size_t j = 0; j < all.size(); ++j) {
          if (all[j].low() > high) continue;
          unclear[i].push_back(scratch.found[j]);
          bounds[i] = all[j];
        }
      }
    });
    Scratch scratch;
    for (std::size_t i = 0; i + 1 < count_; ++i) {
      const std::uint32_t row = static_cast<std::uint32_t>(i);
      neighbour_[i] = unclear[i].front();
      if (unclear[i].size() > 1) {
        base::check_stop(options_.stop);
        scratch.found = unclear[i];
        bounds[i] = pick(row, centroids_.at(row, scratch.here), scratch, neighbour_[i]);
      }
      cells_.set_reach(row, reach_of(bounds[i]));
    }
    heap_ = Heap(std::move(bounds), judge_);
  }

  std::uint32_t now(std::uint32_t row) {
    while (forward_[row] != row) row = forward_[row] = forward_[forward_[row]];
    return row;
  }

  void search_neighbour(std::uint32_t row, const Code& code, const double* centroid,
                        Scratch& scratch) {
    cells_.nearest(code, row, gap(), scratch.cells, scratch.found);
    heap_.change(row, pick(row, centroid, scratch, neighbour_[row]));
  }

  Merge merge_nearest() {
    for (;;) {
      const std::uint32_t row = static_cast<std::uint32_t>(heap_.top_row());
      const std::uint32_t other = now(neighbour_[row]);
      const double* centroid = centroids_.at(row, scratch_.here);
      Distance current = distance(row, other, centroid, scratch_.there);
      if (judge_.equal(heap_.top_value(), current)) break;
      const Code code = cells_.code(row);
      cells_.measure(code, scratch_.cells);
      search_neighbour(row, code, centroid, scratch_);
      cells_.set_reach(row, reach_of(heap_.value(row)));
    }
    const std::uint32_t x = static_cast<std::uint32_t>(heap_.top_row());
    const std::uint32_t y = now(neighbour_[x]);
    const Distance apart = heap_.top_value();
    heap_.remove_top();
    const Merge merge = join(x, y, apart);
    merged_.push_back(apart);

    const double* centroid = centroids_.at(y, scratch_.here);
    Code code{std::vector<std::int16_t>(width()), 0};
    encode(centroid, code.numbers.data());
    const std::uint32_t zero = 0;
    code_products(code.numbers.data(), code.numbers.data(), &zero, 1, width(), &code.square);
    cells_.measure(code, scratch_.cells);
    cells_.within_reach(code, y, scratch_.cells, scratch_.found);
    for (const std::uint32_t z : scratch_.found) {
      Distance to_y = distance(y, z, centroid, scratch_.there);
      if (!judge_.less(to_y, heap_.value(z))) continue;
      neighbour_[z] = y;
      cells_.set_reach(z, reach_of(to_y));
      heap_.change(z, to_y);
    }
    if (y + 1 < count_) search_neighbour(y, code, centroid, scratch_);
    cells_.insert(code, y, y + 1 < count_ ? reach_of(heap_.value(y)) : 0.0F, scratch_.cells);
    return merge;
  }

  // x goes, y becomes the union.
  Merge join(std::uint32_t x, std::uint32_t y, const Distance& apart) {
    cells_.remove(x);
    cells_.remove(y);
    forward_[x] = y;
    const Cluster a = clusters_[x], b = clusters_[y];
    const double size = a.size + b.size, part_a = a.size / size, part_b = b.size / size;
    centroids_.merge(x, part_a, y, part_b);
    Cluster& both = clusters_[y];
    both.node = exact_.merge(std::min(a.node, b.node), std::max(a.node, b.node));
    both.size = size;
    // An update takes the squares to both with their parts, and that between them with the product
    // of the parts; sixteen roundings are more than it makes.
    both.update_error = part_a * a.update_error + part_b * b.update_error +
                        part_a * part_b * (a.update_error + b.update_error) +
                        16 * kRoundoff * largest_square_;
    both.centroid_error =
        part_a * a.centroid_error + part_b * b.centroid_error + 4 * kRoundoff * radius_;
    both.error = error_of(both);
    if (both.error > most_error_) raise_errors(both.error);
    return {std::min(a.node, b.node), std::max(a.node, b.node),
            apart.exact >= 0 ? apart.exact : std::sqrt(apart.square),
            static_cast<std::int32_t>(size)};
  }

  // Reaches were made for smaller errors.
  void raise_errors(double error) {
    most_error_ = 16 * error;
    for (std::uint32_t row = 0; row + 1 < count_; ++row)
      if (cells_.holds(row)) cells_.set_reach(row, reach_of(heap_.value(row)));
  }

  // Distances that others are compared with are made exact where the estimate can't tell.
  void settle(std::vector<Merge>& tree);

  using Heap = RowHeap<Distance, Judge>;
  LinkageOptions options_;
  base::TaskPool* pool_;
  std::size_t dim_, count_;
  double radius_ = 0, scale_ = 1, largest_square_ = 0, code_error_ = 0;
  double most_error_ = 0;  // no cluster's error is larger
  Centroids centroids_;
  ExactDistances exact_;
  Judge judge_;
  std::vector<Cluster> clusters_;         // by row
  std::vector<std::uint32_t> neighbour_;  // the nearest higher row, or what was merged into another
  std::vector<std::uint32_t> forward_;    // of rows that were merged: into which
  NeighbourCells cells_;
  Heap heap_;
  std::vector<Distance> merged_;  // by merge
  std::size_t built_ = 0;         // clusters when the cells were made
  Scratch scratch_;
};

void CompactLinkage::settle(std::vector<Merge>& tree) {
  if (!options_.cut) return;
  const double cut = *options_.cut;
  const auto make_exact = [&](std::size_t k) {
    base::check_stop(options_.stop);
    tree[k].distance = judge_.exact(merged_[k]);
  };
  const auto low = [&](std::size_t k) {
    return merged_[k].exact >= 0 ? merged_[k].exact : std::sqrt(std::max(0.0, merged_[k].low()));
  };
  const auto high = [&](std::size_t k) {
    return merged_[k].exact >= 0 ? merged_[k].exact : std::sqrt(merged_[k].high());
  };
  constexpr double kBit = 1 + 4 * kRoundoff;
  for (std::size_t k = 0; k < tree.size(); ++k)
    if (low(k) <= cut * kBit && high(k) * kBit >= cut) make_exact(k);
  if (!options_.order) return;
  // Distances to the cut lie between these.
  const auto from = [&](std::size_t k) {
    return low(k) <= cut && cut <= high(k)
               ? 0.0
               : std::min(std::abs(low(k) - cut), std::abs(high(k) - cut));
  };
  const auto to = [&](std::size_t k) {
    return std::max(std::abs(low(k) - cut), std::abs(high(k) - cut));
  };
  std::vector<std::size_t> order(tree.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> key(tree.size());
  for (std::size_t k = 0; k < tree.size(); ++k) key[k] = std::abs(tree[k].distance - cut);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
  std::vector<bool> unclear(tree.size());
  double before = -1;
  for (const std::size_t k : order) {
    if (from(k) <= before * kBit) unclear[k] = true;
    before = std::max(before, to(k));
  }
  double behind = kInfinity;
  for (std::size_t i = order.size(); i > 0; --i) {
    const std::size_t k = order[i - 1];
    if (to(k) * kBit >= behind) unclear[k] = true;
    behind = std::min(behind, from(k));
  }
  for (std::size_t k = 0; k < tree.size(); ++k)
    if (unclear[k] && merged_[k].exact < 0) make_exact(k);
}

}  // namespace

std::vector<Merge> compact_linkage(std::span<const float> rows, std::size_t dim,
                                   const LinkageOptions& options, base::TaskPool* pool) {
  return CompactLinkage(rows, dim, options, pool).run();
}

}  // namespace diarist::cluster
