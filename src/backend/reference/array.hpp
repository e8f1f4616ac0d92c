#pragma once
// A value of one item while a graph runs.

#include <cstdint>
#include <vector>

#include "base/tensor.hpp"

namespace diarist::backend::reference {

/// Numbers in C order; classes and indices are stored as doubles too.
struct Array {
  base::Shape shape;
  std::vector<double> values;

  std::int64_t dim(std::size_t axis) const { return shape[axis]; }
  double* at(std::int64_t index) { return values.data() + index; }
  const double* at(std::int64_t index) const { return values.data() + index; }

  /// Takes a shape and clears the numbers; memory is kept for the next item.
  void reset(base::Shape wanted) {
    shape = std::move(wanted);
    values.assign(static_cast<std::size_t>(base::element_count(shape)), 0.0);
  }
};

/// Rows that all items of a batch read from, as they lie in the caller's buffer.
struct SharedRows {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

}  // namespace diarist::backend::reference
