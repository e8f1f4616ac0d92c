#pragma once
// The clustering of the older speaker-diarization-3.1 configuration (pipeline.md 18).

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

/// Requested numbers; `num` unset means any number in [low, high].
struct CountRange {
  std::optional<int> num;
  int low = 1;
  int high = std::numeric_limits<int>::max();
};

/// Labels [T], contiguous from 0. The range must already be clamped to 1..T.
/// \param rows [T, dim] unit rows in f32, T >= 1.
std::vector<std::int32_t> agglomerate(std::span<const float> rows, std::size_t dim,
                                      const CountRange& range, base::TaskPool* pool,
                                      const std::stop_token& stop = {});

}  // namespace diarist::cluster
