#pragma once
// k-means for a requested number of speakers (pipeline.md 11), draw for draw as the reference.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

/// Labels [T] of k clusters; the same rows always give the same labels (seed 42, three runs).
/// With fewer than k different rows some labels stay unused.
/// \param rows [T, dim] unit rows in f32; 1 <= k <= T.
/// \param pool may be null; never changes the result.
/// \throws Error kCancelled.
std::vector<std::int32_t> kmeans(std::span<const float> rows, std::size_t dim, int k,
                                 base::TaskPool* pool = nullptr, const std::stop_token& stop = {});

}  // namespace diarist::cluster
