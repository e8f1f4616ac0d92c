#pragma once
// Row-wise helpers in the precision that the reference uses (pipeline.md 7, 8, 11).

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace diarist::cluster {

/// Sum of squares in f32, added in the order of NumPy's pairwise summation, so that unit rows agree
/// with the reference to the last bit.
float sum_of_squares(std::span<const float> row);

/// rows [n, dim] divided by their euclidean norms; squares, sum, root and division in f32.
/// \throws Error kCancelled.
std::vector<float> unit_rows(std::span<const float> rows, std::size_t dim,
                             const std::stop_token& stop = {});

/// Mean of the rows of every cluster, added in row order in f32: [clusters, dim]. A cluster without
/// rows gives NaN. labels: [n], 0 .. clusters-1. \throws Error kCancelled.
std::vector<float> cluster_means(std::span<const float> rows, std::size_t dim,
                                 std::span<const std::int32_t> labels, std::size_t clusters,
                                 const std::stop_token& stop = {});

/// Divides rows [n, dim] by their euclidean norms in f64. Zero rows become NaN.
void normalize_rows(std::span<double> rows, std::size_t dim);

/// Renumbers labels so that they are contiguous, keeping their order; returns how many there are.
int renumber(std::vector<std::int32_t>& labels);

}  // namespace diarist::cluster
