#include "cluster/distances.hpp"

#include <algorithm>
#include <new>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "cluster/kernels.hpp"
#include "cluster/parallel.hpp"

namespace diarist::cluster {
namespace {

constexpr std::size_t kRowBlock = 128;  // rows per task, a multiple of kTile

// Rows [first, first + kTile) as a panel [dim, kTile]; zeros beyond the last row.
void pack_panel(std::span<const float> rows, std::size_t first, std::size_t dim, double* panel) {
  const std::size_t height = std::min(kTile, rows.size() / dim - first);
  if (height < kTile) std::fill_n(panel, dim * kTile, 0.0);
  const float* from = rows.data() + first * dim;
  for (std::size_t d = 0; d < dim; ++d)
    for (std::size_t j = 0; j < height; ++j) panel[d * kTile + j] = from[j * dim + d];
}

}  // namespace

CondensedDistances::CondensedDistances(std::span<const float> rows, std::size_t dim,
                                       base::TaskPool* pool, const std::stop_token& stop) {
  set_count(rows.size() / dim);
  const std::size_t cells = count_ * (count_ - 1) / 2;
  try {
    values_ = base::large_array<double>(cells);
  } catch (const std::bad_alloc&) {
    base::fail(ErrorCode::kOutOfMemory,
               "no memory for the distances of {} voice prints ({} MB); cut the recording or use a "
               "larger window step",
               count_, cells * sizeof(double) / 1000000);
  }
  const std::size_t blocks = (count_ + kRowBlock - 1) / kRowBlock;
  parallel_for(pool, blocks, [&](std::size_t block) {
    const std::size_t first = block * kRowBlock;
    const std::size_t last = std::min(count_, first + kRowBlock);
    // Rows are widened per task: copies of all of them would stand beside the distances, which are
    // the largest array of a long recording.
    const std::vector<double> wide(rows.begin() + static_cast<std::ptrdiff_t>(first * dim),
                                   rows.begin() + static_cast<std::ptrdiff_t>(last * dim));
    std::vector<double> panel(dim * kTile);
    for (std::size_t column = first; column < count_; column += kTile) {
      base::check_stop(stop);
      pack_panel(rows, column, dim, panel.data());
      for (std::size_t i = first; i < std::min(last, column + kTile); i += kTile) {
        TileRows left;
        for (std::size_t r = 0; r < kTile; ++r)
          left.rows[r] = &wide[(std::min(i + r, last - 1) - first) * dim];
        double tile[kTile * kTile];
        tile_distances(left, panel.data(), dim, tile);
        const std::size_t end = std::min(column + kTile, count_);
        const bool whole = column > i && end == column + kTile;  // and not across the diagonal
        for (std::size_t r = 0; r < kTile && i + r < last; ++r) {
          double* out = row(i + r);
          if (whole) {
            std::copy_n(tile + r * kTile, kTile, out + column);
            continue;
          }
          for (std::size_t j = std::max(column, i + r + 1); j < end; ++j)
            out[j] = tile[r * kTile + j - column];
        }
      }
    }
  });
}

void CondensedDistances::set_count(std::size_t count) {
  count_ = count;
  offsets_.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    offsets_[i] = static_cast<std::ptrdiff_t>(i * count - i * (i + 1) / 2) -
                  static_cast<std::ptrdiff_t>(i) - 1;
}

void CondensedDistances::keep(std::span<const std::uint32_t> rows, const std::stop_token& stop) {
  // No cell moves towards the end, so the cells move one after the other within the array.
  double* out = values_.get();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    base::check_stop(stop);
    const double* from = row(rows[i]);
    for (std::size_t j = i + 1; j < rows.size(); ++j) *out++ = from[rows[j]];
  }
  set_count(rows.size());
}

}  // namespace diarist::cluster
