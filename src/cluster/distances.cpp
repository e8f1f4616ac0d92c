#include "cluster/distances.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "base/error.hpp"
#include "cluster/parallel.hpp"

namespace diarist::cluster {
namespace {

constexpr std::size_t kWide = 8;       // rows of a panel, side by side in the vector lanes
constexpr std::size_t kPair = 2;       // rows that share one pass over a panel
constexpr std::size_t kRowBlock = 64;  // rows per task

// Squared distances of kPair rows to the kWide rows of a panel [dim, kWide].
void squared_tile(const double* const (&left)[kPair], const double* panel, std::size_t dim,
                  double (&out)[kPair * kWide]) {
  double sum[kPair * kWide] = {};
  for (std::size_t d = 0; d < dim; ++d) {
    for (std::size_t r = 0; r < kPair; ++r) {
      for (std::size_t j = 0; j < kWide; ++j) {
        const double difference = panel[d * kWide + j] - left[r][d];
        sum[r * kWide + j] += difference * difference;
      }
    }
  }
  std::copy(std::begin(sum), std::end(sum), out);
}

}  // namespace

CondensedDistances::CondensedDistances(std::span<const float> rows, std::size_t dim,
                                       base::TaskPool* pool)
    : count_(rows.size() / dim), offsets_(count_) {
  const std::size_t cells = count_ * (count_ - 1) / 2;
  try {
    values_ = std::make_unique_for_overwrite<double[]>(std::max<std::size_t>(cells, 1));
  } catch (const std::bad_alloc&) {
    base::fail(ErrorCode::kOutOfMemory,
               "no memory for the distances of {} voice prints ({} MB); cut the recording or use a "
               "larger window step",
               count_, cells * sizeof(double) / 1000000);
  }
  for (std::size_t i = 0; i < count_; ++i)
    offsets_[i] = static_cast<std::ptrdiff_t>(i * count_ - i * (i + 1) / 2) -
                  static_cast<std::ptrdiff_t>(i) - 1;

  const std::size_t panels = (count_ + kWide - 1) / kWide;
  const std::size_t blocks = (count_ + kRowBlock - 1) / kRowBlock;
  parallel_for(pool, blocks, [&](std::size_t block) {
    const std::size_t first = block * kRowBlock;
    const std::size_t last = std::min(count_, first + kRowBlock);
    // Rows are widened per task: copies of all of them would stand beside the distances, which are
    // the largest array of a long recording.
    const std::vector<double> left(rows.begin() + static_cast<std::ptrdiff_t>(first * dim),
                                   rows.begin() + static_cast<std::ptrdiff_t>(last * dim));
    std::vector<double> packed(dim * kWide, 0.0);  // a panel, whose lanes are rows
    double tile[kPair * kWide];
    for (std::size_t panel = first / kWide; panel < panels; ++panel) {
      for (std::size_t j = 0; j < std::min(kWide, count_ - panel * kWide); ++j)
        for (std::size_t d = 0; d < dim; ++d)
          packed[d * kWide + j] = rows[(panel * kWide + j) * dim + d];
      for (std::size_t i = first; i < last; i += kPair) {
        if ((panel + 1) * kWide <= i + 1) continue;  // nothing above the diagonal
        const std::size_t second = std::min(i + 1, last - 1);
        squared_tile({&left[(i - first) * dim], &left[(second - first) * dim]}, packed.data(), dim,
                     tile);
        for (std::size_t r = 0; r < kPair && i + r < last; ++r) {
          const std::size_t from = std::max(panel * kWide, i + r + 1);
          const std::size_t to = std::min((panel + 1) * kWide, count_);
          double* out = row(i + r);
          for (std::size_t j = from; j < to; ++j)
            out[j] = std::sqrt(tile[r * kWide + j - panel * kWide]);
        }
      }
    }
  });
}

}  // namespace diarist::cluster
