#pragma once
// Inner loops of the clustering, compiled once per instruction set. Vector lanes hold different
// sums (other pairs of rows, other elements of a product), never parts of one sum, and products are
// rounded before they are added: every instruction set gives the same bytes.

#include <cstddef>

namespace diarist::cluster {

/// Tiles have this many rows and columns.
inline constexpr std::size_t kTile = 8;

/// Left operand of a tile: element (r, k) is rows[r][k * step].
struct TileRows {
  const double* rows[kTile] = {};
  std::size_t step = 1;
};

/// Elements [8, 8] of a product, `stride` numbers from one row to the next.
struct TileSums {
  double* data = nullptr;
  std::size_t stride = kTile;
  bool from_zero = true;  // what stands there is overwritten
};

/// sums [8, 8] += left [8, inner] times panel [inner, 8], in increasing order of `inner`.
void add_products(const TileRows& left, const double* panel, std::size_t inner,
                  const TileSums& sums);

/// distances [8, 8]: roots of the sums of squared differences of left [8, inner] and the columns of
/// panel [inner, 8], added in increasing order of `inner`.
void tile_distances(const TileRows& left, const double* panel, std::size_t inner,
                    double* distances);

/// What a merge of clusters x and y means for the distances to the others.
struct Union {
  double size_x = 0;
  double size_y = 0;
  double distance = 0;  // of x and y
};

/// Distances of others to the merged centroid (pipeline.md 7, step 3), from those to x and to y.
/// Rounding may push the square of a distance of zero below zero: it counts as zero.
/// \param count a multiple of 8.
void merged_distances(const Union& merged, const double* to_x, const double* to_y,
                      std::size_t count, double* to_union);

/// The smallest of values[i] + extra[i] and the first place where it stands; `count` and infinity
/// when no sum is below infinity. Sums that are not numbers are passed over.
struct Minimum {
  std::size_t place = 0;
  double value = 0;
};
Minimum first_minimum(const double* values, const double* extra, std::size_t count);

/// out[i] = exp(values[i] - shift), within two units in the last place; differences below -700 give
/// 0, above 700 they are not served. `out` may be `values`.
void exponentials(const double* values, double shift, std::size_t count, double* out);

}  // namespace diarist::cluster
