#include "cluster/rows.hpp"

#include <algorithm>
#include <cmath>

#include "cluster/parallel.hpp"

namespace diarist::cluster {
namespace {

// NumPy adds up to 128 values in eight interleaved sums and halves longer stretches, the first half
// being a multiple of eight.
float pairwise_squares(const float* x, std::size_t n) {
  if (n > 128) {
    const std::size_t half = n / 2 / 8 * 8;
    return pairwise_squares(x, half) + pairwise_squares(x + half, n - half);
  }
  float total = 0;
  std::size_t i = 0;
  if (n >= 8) {
    float sums[8];
    for (std::size_t j = 0; j < 8; ++j) sums[j] = x[j] * x[j];
    for (i = 8; i + 8 <= n; i += 8)
      for (std::size_t j = 0; j < 8; ++j) sums[j] += x[i + j] * x[i + j];
    total =
        ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  }
  for (; i < n; ++i) total += x[i] * x[i];
  return total;
}

}  // namespace

float sum_of_squares(std::span<const float> row) {
  return pairwise_squares(row.data(), row.size());
}

std::vector<float> unit_rows(std::span<const float> rows, std::size_t dim,
                             const std::stop_token& stop) {
  std::vector<float> unit;
  resize_in_parts(unit, rows.size(), stop);
  in_parts(rows.size() / dim, stop, [&](std::size_t first, std::size_t last) {
    for (std::size_t start = first * dim; start < last * dim; start += dim) {
      const float norm = std::sqrt(sum_of_squares(rows.subspan(start, dim)));
      for (std::size_t d = 0; d < dim; ++d) unit[start + d] = rows[start + d] / norm;
    }
  });
  return unit;
}

std::vector<float> cluster_means(std::span<const float> rows, std::size_t dim,
                                 std::span<const std::int32_t> labels, std::size_t clusters,
                                 const std::stop_token& stop) {
  std::vector<float> means(clusters * dim, 0.0f);
  std::vector<int> sizes(clusters, 0);
  in_parts(labels.size(), stop, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t cluster = static_cast<std::size_t>(labels[i]);
      ++sizes[cluster];
      for (std::size_t d = 0; d < dim; ++d) means[cluster * dim + d] += rows[i * dim + d];
    }
  });
  for (std::size_t k = 0; k < clusters; ++k)
    for (std::size_t d = 0; d < dim; ++d) means[k * dim + d] /= static_cast<float>(sizes[k]);
  return means;
}

void normalize_rows(std::span<double> rows, std::size_t dim) {
  constexpr std::size_t kTogether = 4;  // sums that do not wait for each other
  for (std::size_t start = 0; start < rows.size(); start += kTogether * dim) {
    const std::size_t count = std::min(kTogether, (rows.size() - start) / dim);
    double square[kTogether] = {};
    const double* row[kTogether];
    for (std::size_t r = 0; r < kTogether; ++r)
      row[r] = &rows[start + std::min(r, count - 1) * dim];
    for (std::size_t d = 0; d < dim; ++d)
      for (std::size_t r = 0; r < kTogether; ++r) square[r] += row[r][d] * row[r][d];
    for (std::size_t r = 0; r < count; ++r) {
      const double norm = std::sqrt(square[r]);
      for (double& value : rows.subspan(start + r * dim, dim)) value /= norm;
    }
  }
}

int renumber(std::vector<std::int32_t>& labels) {
  std::vector<std::int32_t> used = labels;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (std::int32_t& label : labels)
    label =
        static_cast<std::int32_t>(std::lower_bound(used.begin(), used.end(), label) - used.begin());
  return static_cast<int>(used.size());
}

}  // namespace diarist::cluster
