#pragma once
// All pairwise euclidean distances of a set of rows.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "base/memory.hpp"

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

/// The upper triangle of the distance matrix of n rows, n(n-1)/2 doubles. Not empty: n >= 1.
class CondensedDistances {
 public:
  /// Root of the sum of squared differences in f64, added in the order of the dimensions: equal
  /// rows are at distance 0, and the result does not depend on the threads.
  /// \param rows [n, dim]; n >= 1. \throws Error kOutOfMemory, kCancelled.
  CondensedDistances(std::span<const float> rows, std::size_t dim, base::TaskPool* pool,
                     const std::stop_token& stop = {});

  std::size_t count() const noexcept { return count_; }

  /// Indexed by the other row: row(i)[j] for j > i only.
  double* row(std::size_t i) noexcept { return values_.get() + offsets_[i]; }

  const double* row(std::size_t i) const noexcept { return values_.get() + offsets_[i]; }

  /// Leaves the given rows and their columns, increasing, under the numbers 0, 1, ...
  /// \throws Error kCancelled; the distances are of no use then.
  void keep(std::span<const std::uint32_t> rows, const std::stop_token& stop = {});

 private:
  void set_count(std::size_t count);

  std::size_t count_ = 0;
  std::vector<std::ptrdiff_t> offsets_;  // of (i, 0) in values_, if there were such a cell
  base::LargeArray<double> values_;
};

}  // namespace diarist::cluster
