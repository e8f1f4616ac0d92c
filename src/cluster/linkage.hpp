#pragma once
// Initial clusters by centroid linkage (pipeline.md 7).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

/// Merge number k joins nodes `left` < `right` into node n+k. Nodes below n are rows.
struct Merge {
  std::int32_t left = 0;
  std::int32_t right = 0;
  double distance = 0;
  std::int32_t size = 0;  // rows below the new node
};

/// With more rows centroids are stored instead of distances (4 n^2 bytes, 67 MB): from here on that
/// is quicker as well.
inline constexpr std::size_t kMostStoredRows = 4096;

/// Up to this many rows stored distances are there to fall back on (1.16 GB).
inline constexpr std::size_t kMostFallbackRows = 17000;

struct LinkageOptions {
  std::size_t most_stored_rows = kMostStoredRows;
  /// When work on centroids exceeds what stored distances would take this many times, it starts
  /// anew with these. Work is counted, not timed.
  double patience = 1;
  std::size_t most_fallback_rows = kMostFallbackRows;  ///< with more it goes on with centroids
  /// Where the tree will be cut: distances that estimates can't tell from it are exact.
  std::optional<double> cut;
  bool order = false;    ///< so are those whose differences from the cut are compared
  std::stop_token stop;  ///< looked at at least every few milliseconds
};

/// Greedy centroid linkage of n rows on euclidean distances in f64, with the order among equal
/// distances of tie rule T1. With many rows distances of the tree may be off by 1e-9 where that
/// changes nothing.
/// \param rows [n, dim], finite.
/// \return n-1 merges; none for fewer than two rows.
/// \throws Error kOutOfMemory, kCancelled.
std::vector<Merge> centroid_linkage(std::span<const float> rows, std::size_t dim,
                                    base::TaskPool* pool, const LinkageOptions& options = {});

/// Cuts the tree: a node is one cluster when no merge at or below it has a key above the threshold.
/// Labels are numbered in the visiting order of pipeline.md 7, step 5.
/// \param keys one per merge: distances, or merge numbers for a cut by number.
std::vector<std::int32_t> flat_clusters(std::span<const Merge> tree, std::span<const double> keys,
                                        double threshold);

/// The cut by distance.
std::vector<std::int32_t> flat_clusters(std::span<const Merge> tree, double threshold);

}  // namespace diarist::cluster
