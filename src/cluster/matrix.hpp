#pragma once
// A double matrix product whose sums run in a fixed order: the same bytes for any thread count.

#include <cstddef>
#include <stop_token>

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

/// A matrix that is read with two strides, so that a transposed one needs no copy.
struct MatrixView {
  const double* data = nullptr;
  std::size_t row_stride = 0;
  std::size_t column_stride = 1;
};

/// C [rows, columns] = A [rows, inner] B [inner, columns]; B and C are dense, row-major. Every
/// element is the plain sum over `inner` in increasing order.
/// \param stop looked at at least every few million multiplications. \throws Error kCancelled.
void multiply(MatrixView a, const double* b, double* c, std::size_t rows, std::size_t inner,
              std::size_t columns, base::TaskPool* pool, const std::stop_token& stop = {});

}  // namespace diarist::cluster
