#include "cluster/matrix.hpp"

#include <algorithm>
#include <vector>

#include "cluster/parallel.hpp"

namespace diarist::cluster {
namespace {

// A tile of C stays in registers while a stretch of the inner dimension passes by.
constexpr std::size_t kTileRows = 2;
constexpr std::size_t kTileColumns = 8;
constexpr std::size_t kInner = 256;    // B panel of 256 x 8 doubles: 16 KB, stays in L1
constexpr std::size_t kRowBlock = 64;  // rows of C per task

// Tile at c += a panel [inner, kTileRows] times b panel [inner, kTileColumns].
void add_tile(const double* a, const double* b, std::size_t inner, double (&tile)[16]) {
  double sum[kTileRows * kTileColumns];
  std::copy(std::begin(tile), std::end(tile), sum);
  for (std::size_t k = 0; k < inner; ++k) {
    for (std::size_t r = 0; r < kTileRows; ++r)
      for (std::size_t j = 0; j < kTileColumns; ++j)
        sum[r * kTileColumns + j] += a[k * kTileRows + r] * b[k * kTileColumns + j];
  }
  std::copy(std::begin(sum), std::end(sum), tile);
}

}  // namespace

void multiply(MatrixView a, const double* b, double* c, std::size_t rows, std::size_t inner,
              std::size_t columns, base::TaskPool* pool) {
  const std::size_t blocks = (rows + kRowBlock - 1) / kRowBlock;
  parallel_for(pool, blocks, [&](std::size_t block) {
    const std::size_t first_row = block * kRowBlock;
    const std::size_t last_row = std::min(rows, first_row + kRowBlock);
    std::vector<double> a_panel(kRowBlock * kInner);
    std::vector<double> b_panel(kTileColumns * kInner);
    std::fill(c + first_row * columns, c + last_row * columns, 0.0);
    for (std::size_t k0 = 0; k0 < inner; k0 += kInner) {
      const std::size_t length = std::min(kInner, inner - k0);
      // Both panels are packed, padded with zeros to whole tiles; padding is never stored.
      for (std::size_t row = first_row; row < first_row + kRowBlock; ++row) {
        double* out = &a_panel[(row - first_row) / kTileRows * kTileRows * kInner +
                               (row - first_row) % kTileRows];
        for (std::size_t k = 0; k < length; ++k)
          out[k * kTileRows] =
              row < last_row ? a.data[row * a.row_stride + (k0 + k) * a.column_stride] : 0.0;
      }
      for (std::size_t j0 = 0; j0 < columns; j0 += kTileColumns) {
        const std::size_t width = std::min(kTileColumns, columns - j0);
        for (std::size_t k = 0; k < length; ++k)
          for (std::size_t j = 0; j < kTileColumns; ++j)
            b_panel[k * kTileColumns + j] = j < width ? b[(k0 + k) * columns + j0 + j] : 0.0;
        for (std::size_t row = first_row; row < last_row; row += kTileRows) {
          double tile[kTileRows * kTileColumns] = {};
          const std::size_t height = std::min(kTileRows, last_row - row);
          for (std::size_t r = 0; r < height; ++r)
            std::copy_n(c + (row + r) * columns + j0, width, tile + r * kTileColumns);
          add_tile(&a_panel[(row - first_row) * kInner], b_panel.data(), length, tile);
          for (std::size_t r = 0; r < height; ++r)
            std::copy_n(tile + r * kTileColumns, width, c + (row + r) * columns + j0);
        }
      }
    }
  });
}

}  // namespace diarist::cluster
