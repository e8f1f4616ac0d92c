#pragma once
// All pairwise euclidean distances of a set of rows.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

/// The upper triangle of the distance matrix of n rows, n(n-1)/2 doubles.
class CondensedDistances {
 public:
  /// Root of the sum of squared differences in f64, added in the order of the dimensions: equal
  /// rows are at distance 0, and the result does not depend on the threads.
  /// \param rows [n, dim]; n >= 1. \throws Error kOutOfMemory.
  CondensedDistances(std::span<const float> rows, std::size_t dim, base::TaskPool* pool);

  std::size_t count() const noexcept { return count_; }

  /// Indexed by the other row: row(i)[j] for j > i only.
  double* row(std::size_t i) noexcept { return values_.get() + offsets_[i]; }

  double& between(std::size_t i, std::size_t j) noexcept { return i < j ? row(i)[j] : row(j)[i]; }

 private:
  std::size_t count_;
  std::vector<std::ptrdiff_t> offsets_;  // of (i, 0) in values_, if there were such a cell
  std::unique_ptr<double[]> values_;
};

}  // namespace diarist::cluster
