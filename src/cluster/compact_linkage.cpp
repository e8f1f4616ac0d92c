#include "cluster/compact_linkage.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "cluster/codes.hpp"
#include "cluster/exact_distances.hpp"
#include "cluster/judged_distance.hpp"
#include "cluster/neighbour_cells.hpp"
#include "cluster/parallel.hpp"
#include "cluster/row_heap.hpp"
#include "cluster/scan_kernels.hpp"

namespace diarist::cluster {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRoundoff = std::numeric_limits<double>::epsilon() / 2;
constexpr std::size_t kRowBlock = 64;  // rows per task
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Time that stored distances take, in that of bytes read here. Measured with 2,000 to 10,000 rows
// of 256 dimensions: 25 to 40 ns for the square of the rows, 0.11 to 0.14 ns for a byte.
double work_of_distances(std::size_t rows, std::size_t dim) {
  const double count = static_cast<double>(rows);
  return count * count * (100 + 0.4 * static_cast<double>(dim));
}

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

  /// Square of the distance to a vector. Rows are not widened first: with vectors in all directions
  /// every merge asks for that of nearly every row.
  double square_to(std::uint32_t row, const double* vector) const {
    if (means_[row]) return square_distance(vector, means_[row].get(), dim_);
    return square_distance(vector, rows_.data() + row * dim_, dim_);
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
  std::vector<double> here;  // a centroid
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
        radius_(longest(rows, dim, options.stop)),
        coder_(rows, dim, radius_, options.stop),
        centroids_(rows, dim),
        exact_(rows, dim, options.stop),
        judge_(exact_),
        clusters_(count_),
        neighbour_(count_),
        forward_(count_),
        equal_below_(count_, kNone),
        equal_above_(count_, kNone),
        cells_(count_, coder_),
        heap_({}, judge_) {
    if (count_ <= options.most_fallback_rows)
      most_work_ = options.patience * work_of_distances(count_, dim_);
    measure_errors();
    link_equal_rows();
    std::iota(forward_.begin(), forward_.end(), 0U);
    {
      const Codes codes = coder_.encode_all(rows, pool, options.stop);
      cells_.build(&codes, pool, options.stop);
    }
  }

  std::optional<std::vector<Merge>> run() {
    find_all_neighbours();
    std::vector<Merge> tree;
    tree.reserve(count_ - 1);
    built_ = count_;
    while (tree.size() + 1 < count_) {
      if (!find_nearest()) return std::nullopt;
      tree.push_back(merge_nearest());
      if (2 * cells_.count() > built_) continue;
      cells_.build(nullptr, pool_, options_.stop);
      built_ = cells_.count();
    }
    if (!settle(tree)) return std::nullopt;
    return tree;
  }

 private:
  // Length of the longest row.
  static double longest(std::span<const float> rows, std::size_t dim, const std::stop_token& stop) {
    double most = 0;
    for (std::size_t first = 0; first < rows.size(); first += dim) {
      base::check_stop(stop);
      double square = 0;
      for (const float x : rows.subspan(first, dim)) square += double{x} * double{x};
      if (!std::isfinite(square))
        base::fail(ErrorCode::kInternal, "linkage of {} rows met a distance that is not a number",
                   rows.size() / dim);
      most = std::max(most, square);
    }
    return std::sqrt(most);
  }

  // Errors in units of the largest square of a distance.
  void measure_errors() {
    largest_square_ = 4.001 * radius_ * radius_;
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
    return 1.1 * (cluster.update_error + 4.1 * radius_ * cluster.centroid_error + estimate);
  }

  // Equal rows are merged before all others, since no other distance is zero, each with the next
  // one above it. Chains of them say which that is.
  void link_equal_rows() {
    std::vector<std::uint32_t> last(count_, kNone);
    for (std::uint32_t row = 0; row < count_; ++row) {
      std::uint32_t& below =
          last[static_cast<std::size_t>(exact_.first_equal(static_cast<std::int32_t>(row)))];
      equal_below_[row] = below;
      if (below != kNone) equal_above_[below] = row;
      below = row;
    }
  }

  bool out_of_patience() const {
    return static_cast<double>(read_ + scratch_.cells.bytes + exact_.work()) > most_work_;
  }

  // How much farther than the nearest code the code of the nearest cluster may be.
  double gap() const { return 4 * coder_.error() + 2 * coder_.scale() * std::sqrt(most_error_); }

  // A code that is farther away belongs to a cluster that is not nearer than the bound.
  float reach_of(const Distance& bound) const {
    if (bound.exact == 0) return -1;  // nothing comes nearer
    return static_cast<float>(
        (coder_.scale() * std::sqrt(bound.high() + 2 * most_error_) + 2 * coder_.error()) *
        1.000001);
  }

  Distance distance(std::uint32_t a, std::uint32_t b, const double* centroid_a) const {
    Distance made;
    made.later = std::max(clusters_[a].node, clusters_[b].node);
    made.earlier = std::min(clusters_[a].node, clusters_[b].node);
    if (exact_.equal_rows(made.later, made.earlier)) {
      made.square = made.exact = 0;
      return made;
    }
    made.square = centroids_.square_to(b, centroid_a);
    made.margin = clusters_[a].error + clusters_[b].error;
    return made;
  }

  // The first of the nearest among the rows found. Not for two threads when it is close.
  Distance pick(std::uint32_t row, const double* centroid, Scratch& scratch,
                std::uint32_t& neighbour) const {
    scratch.cells.bytes += scratch.found.size() * dim_ * sizeof(double);
    Distance best;
    for (const std::uint32_t each : scratch.found) {
      Distance to_each = distance(row, each, centroid);
      if (best.later >= 0 && !judge_.less(to_each, best)) continue;
      best = to_each;
      neighbour = each;
    }
    return best;
  }

  void find_all_neighbours() {
    std::vector<std::vector<std::uint32_t>> unclear(count_);
    std::vector<Distance> bounds(count_ - 1);
    std::atomic<std::uint64_t> read = 0;
    parallel_for(pool_, (count_ + kRowBlock - 1) / kRowBlock, [&](std::size_t block) {
      Scratch scratch;
      for (std::size_t i = block * kRowBlock; i < std::min(count_ - 1, (block + 1) * kRowBlock);
           ++i) {
        base::check_stop(options_.stop);
        const std::uint32_t row = static_cast<std::uint32_t>(i);
        if (equal_above_[row] != kNone) {
          unclear[i].push_back(equal_above_[row]);
          bounds[i] = distance(row, equal_above_[row], nullptr);
          continue;
        }
        // Whoever finds that it is too much, all of it is.
        if (static_cast<double>(read) > most_work_) return;
        const std::uint64_t before = scratch.cells.bytes;
        const Code code = cells_.code(row);
        cells_.measure(code, scratch.cells);
        cells_.nearest(code, row, gap(), scratch.cells, scratch.found);
        const double* centroid = centroids_.at(row, scratch.here);
        // Estimates alone, side by side; what is close is decided afterwards.
        double high = kInfinity;
        std::vector<Distance> all;
        for (const std::uint32_t each : scratch.found) {
          all.push_back(distance(row, each, centroid));
          high = std::min(high, all.back().high());
        }
        for (std::size_t j = 0; j < all.size(); ++j) {
          if (all[j].low() > high) continue;
          unclear[i].push_back(scratch.found[j]);
          bounds[i] = all[j];
        }
        read += scratch.cells.bytes - before + all.size() * dim_ * sizeof(double);
      }
    });
    read_ = read;
    if (out_of_patience()) return;
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
    if (equal_above_[row] != kNone) {
      neighbour_[row] = equal_above_[row];
      heap_.change(row, distance(row, neighbour_[row], centroid));
      return;
    }
    cells_.nearest(code, row, gap(), scratch.cells, scratch.found);
    heap_.change(row, pick(row, centroid, scratch, neighbour_[row]));
  }

  // The two nearest clusters come to the top of the heap; false when it takes too long.
  bool find_nearest() {
    for (;;) {
      base::check_stop(options_.stop);
      if (out_of_patience()) return false;
      const std::uint32_t row = static_cast<std::uint32_t>(heap_.top_row());
      const std::uint32_t other = now(neighbour_[row]);
      const double* centroid = centroids_.at(row, scratch_.here);
      Distance current = distance(row, other, centroid);
      if (judge_.equal(heap_.top_value(), current)) return true;
      const Code code = cells_.code(row);
      cells_.measure(code, scratch_.cells);
      search_neighbour(row, code, centroid, scratch_);
      cells_.set_reach(row, reach_of(heap_.value(row)));
    }
  }

  Merge merge_nearest() {
    const std::uint32_t x = static_cast<std::uint32_t>(heap_.top_row());
    const std::uint32_t y = now(neighbour_[x]);
    const Distance apart = heap_.top_value();
    heap_.remove_top();
    const Merge merge = join(x, y, apart);
    merged_.push_back(apart);

    const double* centroid = centroids_.at(y, scratch_.here);
    Code code;
    coder_.encode(centroid, code);
    cells_.measure(code, scratch_.cells);
    cells_.within_reach(code, y, scratch_.cells, scratch_.found);
    scratch_.cells.bytes += scratch_.found.size() * dim_ * sizeof(double);
    for (const std::uint32_t z : scratch_.found) {
      if (heap_.value(z).exact == 0) continue;  // no distance is less
      Distance to_y = distance(y, z, centroid);
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
    unlink(x);
    const Cluster a = clusters_[x], b = clusters_[y];
    const double size = a.size + b.size, part_a = a.size / size, part_b = b.size / size;
    centroids_.merge(x, part_a, y, part_b);
    Cluster& both = clusters_[y];
    both.node = exact_.merge(std::min(a.node, b.node), std::max(a.node, b.node));
    both.size = size;
    // An update takes the squares to both with their parts, and that between them with the product
    // of the parts; it makes eight roundings of its own.
    both.update_error = part_a * a.update_error + part_b * b.update_error +
                        part_a * part_b * (a.update_error + b.update_error) +
                        9 * kRoundoff * largest_square_;
    both.centroid_error =
        part_a * a.centroid_error + part_b * b.centroid_error + 4 * kRoundoff * radius_;
    both.error = error_of(both);
    if (both.error > most_error_) raise_errors(both.error);
    return {std::min(a.node, b.node), std::max(a.node, b.node),
            apart.exact >= 0 ? apart.exact : std::sqrt(apart.square),
            static_cast<std::int32_t>(size)};
  }

  void unlink(std::uint32_t row) {
    const std::uint32_t below = equal_below_[row], above = equal_above_[row];
    if (below != kNone) equal_above_[below] = above;
    if (above != kNone) equal_below_[above] = below;
  }

  // Reaches were made for smaller errors.
  void raise_errors(double error) {
    most_error_ = 16 * error;
    for (std::uint32_t row = 0; row + 1 < count_; ++row)
      if (cells_.holds(row)) cells_.set_reach(row, reach_of(heap_.value(row)));
  }

  // Distances that others are compared with are made exact where the estimate can't tell; false
  // when it takes too long.
  bool settle(std::vector<Merge>& tree);

  using Heap = RowHeap<Distance, Judge>;
  LinkageOptions options_;
  base::TaskPool* pool_;
  std::size_t dim_, count_;
  double radius_, largest_square_ = 0;
  Coder coder_;
  Centroids centroids_;
  ExactDistances exact_;
  Judge judge_;
  std::vector<Cluster> clusters_;         // by row
  std::vector<std::uint32_t> neighbour_;  // the nearest higher row, or what was merged into another
  std::vector<std::uint32_t> forward_;    // of rows that were merged: into which
  std::vector<std::uint32_t> equal_below_, equal_above_;  // the next rows that are equal
  NeighbourCells cells_;
  Heap heap_;
  std::vector<Distance> merged_;  // by merge
  double most_error_ = 0;         // no cluster's error is larger
  std::size_t built_ = 0;         // clusters when the cells were made
  std::uint64_t read_ = 0;        // bytes, for the first neighbours
  double most_work_ = kInfinity;
  Scratch scratch_;
};

bool CompactLinkage::settle(std::vector<Merge>& tree) {
  if (!options_.cut) return true;
  const double cut = *options_.cut;
  const auto make_exact = [&](std::size_t k) {
    base::check_stop(options_.stop);
    if (out_of_patience()) return;
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
  if (!options_.order) return !out_of_patience();
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
  return !out_of_patience();
}

}  // namespace

std::optional<std::vector<Merge>> compact_linkage(std::span<const float> rows, std::size_t dim,
                                                  const LinkageOptions& options,
                                                  base::TaskPool* pool) {
  return CompactLinkage(rows, dim, options, pool).run();
}

}  // namespace diarist::cluster
