#include "cluster/matrix.hpp"

#include <algorithm>
#include <vector>

#include "base/run_control.hpp"
#include "cluster/kernels.hpp"
#include "cluster/parallel.hpp"

namespace diarist::cluster {
namespace {

constexpr std::size_t kInner = 256;     // B panel of 256 x 8 doubles: 16 KB, stays in L1
constexpr std::size_t kRowBlock = 256;  // rows of C per task: A block of 512 KB, stays in L2
constexpr std::size_t kTasksPerThread = 4;

// A stretch of the inner dimension, [first, first + length).
struct Stretch {
  std::size_t first, length;
};

// Columns [column, column + width) of B as a panel [length, kTile], zeros behind them.
void pack_panel(const double* b, std::size_t columns, Stretch inner, std::size_t column,
                std::size_t width, double* panel) {
  const double* from = b + inner.first * columns + column;
  if (width == kTile) {
    for (std::size_t k = 0; k < inner.length; ++k)
      std::copy_n(from + k * columns, kTile, panel + k * kTile);
    return;
  }
  std::fill_n(panel, inner.length * kTile, 0.0);
  for (std::size_t k = 0; k < inner.length; ++k)
    std::copy_n(from + k * columns, width, panel + k * kTile);
}

// Rows of A for the tiles of one task: where they lie, or a copy when they are columns in memory.
class LeftBlock {
 public:
  LeftBlock(MatrixView a, std::size_t first_row, std::size_t last_row)
      : a_(a), first_row_(first_row), last_row_(last_row) {
    if (a.column_stride != 1)
      copy_.resize((last_row - first_row + kTile - 1) / kTile * kTile * kInner);
  }

  void move_to(Stretch inner) {
    inner_ = inner;
    if (copy_.empty()) return;
    for (std::size_t row = first_row_; row < last_row_; row += kTile) {
      const std::size_t height = std::min(kTile, last_row_ - row);
      double* out = &copy_[(row - first_row_) * kInner];
      for (std::size_t k = 0; k < inner.length; ++k)
        for (std::size_t r = 0; r < height; ++r)
          out[k * kTile + r] =
              a_.data[(row + r) * a_.row_stride + (inner.first + k) * a_.column_stride];
    }
  }

  // Rows beyond the last one are others once more, or zeros.
  TileRows tile(std::size_t row) const {
    TileRows left;
    left.step = copy_.empty() ? 1 : kTile;
    for (std::size_t r = 0; r < kTile; ++r)
      left.rows[r] = copy_.empty()
                         ? a_.data + std::min(row + r, last_row_ - 1) * a_.row_stride + inner_.first
                         : &copy_[(row - first_row_) * kInner + r];
    return left;
  }

 private:
  MatrixView a_;
  std::size_t first_row_, last_row_;
  Stretch inner_{};
  std::vector<double> copy_;  // tiles of [kInner, kTile]
};

// Rows of C from first_row on, columns [first_column, last_column).
struct Part {
  std::size_t first_row, last_row, first_column, last_column;
};

void multiply_part(MatrixView a, const double* b, double* c, std::size_t inner, std::size_t columns,
                   const Part& part, const std::stop_token& stop) {
  LeftBlock left(a, part.first_row, part.last_row);
  double panel[kTile * kInner];
  for (std::size_t k = 0; k < inner; k += kInner) {
    base::check_stop(stop);
    const Stretch stretch{k, std::min(kInner, inner - k)};
    left.move_to(stretch);
    for (std::size_t column = part.first_column; column < part.last_column; column += kTile) {
      const std::size_t width = std::min(kTile, part.last_column - column);
      pack_panel(b, columns, stretch, column, width, panel);
      for (std::size_t row = part.first_row; row < part.last_row; row += kTile) {
        const std::size_t height = std::min(kTile, part.last_row - row);
        double* out = c + row * columns + column;
        if (height == kTile && width == kTile) {
          add_products(left.tile(row), panel, stretch.length, {out, columns, k == 0});
          continue;
        }
        double tile[kTile * kTile] = {};
        if (k > 0)
          for (std::size_t r = 0; r < height; ++r)
            std::copy_n(out + r * columns, width, tile + r * kTile);
        add_products(left.tile(row), panel, stretch.length, {tile, kTile, false});
        for (std::size_t r = 0; r < height; ++r)
          std::copy_n(tile + r * kTile, width, out + r * columns);
      }
    }
  }
}

}  // namespace

void multiply(MatrixView a, const double* b, double* c, std::size_t rows, std::size_t inner,
              std::size_t columns, base::TaskPool* pool, const std::stop_token& stop) {
  if (rows == 0 || columns == 0) return;
  if (inner == 0) std::fill_n(c, rows * columns, 0.0);
  const std::size_t row_blocks = (rows + kRowBlock - 1) / kRowBlock;
  const std::size_t panels = (columns + kTile - 1) / kTile;
  // Few rows are shared out by columns as well.
  const std::size_t threads = pool == nullptr ? 1 : static_cast<std::size_t>(pool->threads());
  const std::size_t wanted = threads == 1 ? 1 : kTasksPerThread * threads;
  const std::size_t strips = std::clamp<std::size_t>(wanted / row_blocks, 1, panels);
  const std::size_t strip_width = (panels + strips - 1) / strips * kTile;
  const std::size_t column_blocks = (columns + strip_width - 1) / strip_width;
  parallel_for(pool, row_blocks * column_blocks, [&](std::size_t task) {
    const std::size_t row = task / column_blocks * kRowBlock;
    const std::size_t column = task % column_blocks * strip_width;
    multiply_part(
        a, b, c, inner, columns,
        {row, std::min(rows, row + kRowBlock), column, std::min(columns, column + strip_width)},
        stop);
  });
}

}  // namespace diarist::cluster
