#pragma once
// Inner loops of the linkage without stored distances, compiled once per instruction set. Products
// of codes are whole numbers: every instruction set gives the same. Distances of centroids are
// estimates, whose last bits depend on the instruction set; who uses them knows their error.

#include <cstddef>
#include <cstdint>

namespace diarist::cluster {

/// Codes are as wide as a multiple of this; zeros fill them up.
inline constexpr std::size_t kCodeStep = 64;

/// products[i] = the dot product of `code` and codes[places[i]]; |code|^2 and the squares of the
/// others must not be above 2^30.
/// \param codes rows of `width` numbers.
void code_products(const std::int16_t* code, const std::int16_t* codes, const std::uint32_t* places,
                   std::size_t count, std::size_t width, std::int32_t* products);

/// heads[j] = the dot product of a vector and column j of a basis [dim, kCodeStep].
void head_products(const double* vector, const double* basis, std::size_t dim, double* heads);

/// Sum of squared differences, added in any order.
double square_distance(const double* a, const double* b, std::size_t dim);
double square_distance(const double* a, const float* b, std::size_t dim);  ///< the same, to the bit

}  // namespace diarist::cluster
