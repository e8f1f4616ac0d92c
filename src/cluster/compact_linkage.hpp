#pragma once
// Centroid linkage that stores centroids instead of distances.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "cluster/linkage.hpp"

namespace diarist::cluster {

/// The same merges as those of the stored distances, tie rule T1 included. Every decision is made
/// on estimates with known errors, and on the exact values where those can't tell; distances of the
/// tree are exact where that decides (see LinkageOptions), else right to 1e-9 or so.
/// Nothing when stored distances should be taken after all (LinkageOptions::patience); whether it
/// is so depends on the rows alone.
/// Takes about 3 dim + 60 bytes per row, and 8 dim per two rows at the most.
std::optional<std::vector<Merge>> compact_linkage(std::span<const float> rows, std::size_t dim,
                                                  const LinkageOptions& options,
                                                  base::TaskPool* pool);

}  // namespace diarist::cluster
