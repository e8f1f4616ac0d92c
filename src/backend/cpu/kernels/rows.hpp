#pragma once
// Passes over rows [count, columns] that surround the products: moments, norms, pools.

#include <cstdint>

#include "model/blocks.hpp"

namespace diarist::backend::cpu {

/// Rows of `columns` floats, `stride` floats apart.
struct RowsIn {
  const float* data = nullptr;
  std::int64_t count = 0;
  std::int64_t stride = 0;
  int columns = 0;
};

struct RowKernels {
  std::int64_t target;  // Highway's bit of the set that this table was compiled for

  /// Per column: mean = sum(w*x) / divisor and squares = sum(w*(x - mean)^2), in double, rows in
  /// order. `weights` [count] or null for ones; rows of weight 0 are not read. `squares` may be
  /// null. mean, squares: [columns].
  void (*moments)(const RowsIn& rows, const float* weights, double divisor, double* mean,
                  double* squares);

  /// Mean and biased variance of a signal, in double.
  void (*signal_moments)(const float* samples, std::int64_t count, double* mean, double* variance);

  /// In place, rows back to back: activation((x - mean) * scale + offset) per column.
  void (*normalize)(float* rows, std::int64_t count, int columns, const float* mean,
                    const float* scale, const float* offset, model::Activation activation);

  /// Maximum of rows 3i, 3i+1, 3i+2; rows back to back. `out` may be `rows`.
  void (*pool3)(const float* rows, std::int64_t out_count, int columns, float* out);

  /// The same of |(x - shift) * scale + offset|, shift and offset per column.
  void (*pool3_affine)(const float* rows, std::int64_t out_count, int columns, const float* shift,
                       float scale, const float* offset, float* out);

  /// out[row][c] = max(0, x*scale + offset).
  void (*scaled_relu)(const RowsIn& rows, const float* scale, const float* offset, float* out,
                      std::int64_t out_stride);
};

const RowKernels& row_kernels(std::int64_t target);

}  // namespace diarist::backend::cpu
