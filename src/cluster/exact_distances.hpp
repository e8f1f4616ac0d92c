#pragma once
// Distances as repeated updates would have left them, to the last bit, without a stored matrix.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

namespace diarist::cluster {

/// The tree of a centroid linkage while it grows. A distance of two nodes depends on what lies
/// below them and on the order in which it was merged, so it can be worked out whenever it is
/// wanted. This takes as many distances of rows as there are pairs below the two nodes, and as many
/// again for the merges below each that nobody asked for yet: it is meant for small nodes and rare
/// questions. Equal rows, as looped audio has them, are known to be equal, and answers are kept for
/// a while.
class ExactDistances {
 public:
  /// \param rows [n, dim], which must stay. \param stop looked at every few milliseconds.
  ExactDistances(std::span<const float> rows, std::size_t dim, std::stop_token stop = {});

  /// The next node, n, n+1, ..., made of two that no other node has. \return its number.
  std::int32_t merge(std::int32_t left, std::int32_t right);

  /// True when all rows below both nodes are equal: their distance is zero.
  bool equal_rows(std::int32_t a, std::int32_t b) const {
    const std::int32_t row = row_below_[static_cast<std::size_t>(a)];
    return row != kDifferent && row == row_below_[static_cast<std::size_t>(b)];
  }

  std::int32_t size(std::int32_t node) const { return sizes_[static_cast<std::size_t>(node)]; }

  /// Distance of two different nodes that stood side by side at some time. \throws Error
  /// kCancelled.
  double value(std::int32_t a, std::int32_t b);

  /// The first of the rows that are equal to this one.
  std::int32_t first_equal(std::int32_t row) const {
    return row_below_[static_cast<std::size_t>(row)];
  }

  /// What the answers took so far, about in bytes that were read for them.
  std::uint64_t work() const noexcept { return work_; }

 private:
  // One side of a block of distances: nodes that stand side by side, each with a place.
  struct Side {
    std::vector<std::int32_t> leaves;
    std::vector<std::uint32_t> live;  // places
    std::vector<std::uint32_t> at;    // of a place in `live`
  };

  static constexpr std::int32_t kDifferent = -1;

  bool is_row(std::int32_t node) const { return node < rows_count_; }
  std::pair<std::int32_t, std::int32_t>& children(std::int32_t node) {
    return children_[static_cast<std::size_t>(node - rows_count_)];
  }
  double& merged(std::int32_t node) {
    return merged_[static_cast<std::size_t>(node - rows_count_)];
  }
  void complete(std::int32_t node);
  std::optional<double> known(std::int32_t later, std::int32_t earlier) const;
  double pair(std::int32_t a, std::int32_t b);
  double block(std::int32_t a, std::int32_t b);
  void spread(std::int32_t node, Side& side,
              std::vector<std::pair<std::int32_t, std::size_t>>& merges, std::size_t which);
  void fill(const Side& a, const Side& b);
  double join(std::int32_t node, double to_left, double to_right);

  std::span<const float> rows_;
  std::size_t dim_;
  std::stop_token stop_;
  std::int32_t rows_count_;
  std::vector<std::int32_t> sizes_;                              // by node
  std::vector<std::pair<std::int32_t, std::int32_t>> children_;  // by merge
  std::vector<double> merged_;           // distance of the two children; below zero: not known yet
  std::vector<std::int32_t> row_below_;  // by node: the first row equal to all below, or kDifferent
  std::unordered_map<std::uint64_t, double> answers_;  // by two nodes
  std::vector<std::uint32_t> places_[2];               // by node, inside a block, one for each side
  std::vector<double> cells_;                          // of a block
  std::uint64_t work_ = 0;
};

}  // namespace diarist::cluster
