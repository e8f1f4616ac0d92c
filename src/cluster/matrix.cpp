#include "cluster/matrix.hpp"

#include <algorithm>

#include "cluster/kernels.hpp"
#include "cluster/parallel.hpp"

namespace diarist::cluster {
namespace {

constexpr std::size_t kInner = 256;    // B panel of 256 x 8 doubles: 16 KB, stays in L1
constexpr std::size_t kRowBlock = 64;  // rows of C per task
constexpr std::size_t kTasks = 64;     // wanted at least, however few rows there are

// Rows of C from first_row on, columns [first_column, last_column).
struct Part {
  std::size_t first_row, last_row, first_column, last_column;
};

void multiply_part(MatrixView a, const double* b, double* c, std::size_t inner, std::size_t columns,
                   const Part& part) {
  double panel[kTile * kInner];
  for (std::size_t j0 = part.first_column; j0 < part.last_column; j0 += kTile) {
    const std::size_t width = std::min(kTile, part.last_column - j0);
    for (std::size_t k0 = 0; k0 < inner; k0 += kInner) {
      const std::size_t length = std::min(kInner, inner - k0);
      const double* from = b + k0 * columns + j0;
      if (width == kTile) {
        for (std::size_t k = 0; k < length; ++k)
          std::copy_n(from + k * columns, kTile, panel + k * kTile);
      } else {
        std::fill_n(panel, length * kTile, 0.0);
        for (std::size_t k = 0; k < length; ++k)
          std::copy_n(from + k * columns, width, panel + k * kTile);
      }
      for (std::size_t row = part.first_row; row < part.last_row; row += kTile) {
        const std::size_t height = std::min(kTile, part.last_row - row);
        TileRows left;
        left.step = a.column_stride;
        // Rows and columns beyond the end repeat others or are zero, and are never stored.
        for (std::size_t r = 0; r < kTile; ++r)
          left.rows[r] =
              a.data + (row + std::min(r, height - 1)) * a.row_stride + k0 * a.column_stride;
        double tile[kTile * kTile] = {};
        if (k0 > 0)
          for (std::size_t r = 0; r < height; ++r)
            std::copy_n(c + (row + r) * columns + j0, width, tile + r * kTile);
        add_products(left, panel, length, tile);
        for (std::size_t r = 0; r < height; ++r)
          std::copy_n(tile + r * kTile, width, c + (row + r) * columns + j0);
      }
    }
  }
}

}  // namespace

void multiply(MatrixView a, const double* b, double* c, std::size_t rows, std::size_t inner,
              std::size_t columns, base::TaskPool* pool) {
  if (inner == 0) std::fill_n(c, rows * columns, 0.0);
  const std::size_t row_blocks = (rows + kRowBlock - 1) / kRowBlock;
  if (row_blocks == 0 || columns == 0) return;
  // Few rows are shared out by columns as well.
  const std::size_t panels = (columns + kTile - 1) / kTile;
  const std::size_t strips = std::clamp<std::size_t>(kTasks / row_blocks, 1, panels);
  const std::size_t strip_width = (panels + strips - 1) / strips * kTile;
  const std::size_t column_blocks = (columns + strip_width - 1) / strip_width;
  parallel_for(pool, row_blocks * column_blocks, [&](std::size_t task) {
    const std::size_t row = task / column_blocks * kRowBlock;
    const std::size_t column = task % column_blocks * strip_width;
    multiply_part(
        a, b, c, inner, columns,
        {row, std::min(rows, row + kRowBlock), column, std::min(columns, column + strip_width)});
  });
}

}  // namespace diarist::cluster
