#pragma once
// Device memory of a CAM++ program: everything that one pack needs.

#include <cstddef>
#include <cstdint>

#include "backend/cuda/kernels/campplus/frames.hpp"
#include "backend/cuda/kernels/campplus/layout.hpp"
#include "backend/cuda/kernels/campplus/pool.hpp"
#include "backend/cuda/memory.hpp"

namespace diarist::backend::cuda::campplus {

/// How large a pack may become.
struct PackLimits {
  int items = 1;      // of a run
  int rows = 0;       // of a pack; 0: no trunk
  int slab_rows = 0;  // that a slab should have
  int most_slab_rows = 0;
};

/// Limits for runs of up to max_items items of max_length rows: a pack fills every multiprocessor
/// with one tile of the dense layers, or several times where that stays small.
PackLimits pack_limits(int max_items, std::int64_t max_length, int multiprocessors) noexcept;

/// One block of device memory, cut once. Dies after all work that uses it.
class CampplusWorkspace {
 public:
  /// \param columns of the statistics, 0: none.
  CampplusWorkspace(int device, const PackLimits& limits, bool exact, bool keeps_frames,
                    int columns);

  std::size_t bytes() const noexcept { return memory_.bytes(); }

  PackItem* items = nullptr;
  PackSegment* segments = nullptr;
  PackTile* tiles = nullptr;
  std::int32_t *row_items = nullptr, *unit_segments = nullptr;
  std::uint32_t* range = nullptr;  // a word per item of the run
  float* means = nullptr;
  __half *planes = nullptr, *low_planes = nullptr;
  int plane_pitch = 0;
  /// Two maps of a slab, 40 frequencies each, one behind the other; map_rows rows of time.
  __half* maps = nullptr;
  int map_rows = 0;
  __half* head = nullptr;  // [10][rows][32]
  int head_pitch = 0;
  void* rows[2] = {};              // of the dense blocks, in turns
  float* local[2] = {};            // raw columns, in turns
  ExactSum* sums[2] = {};          // in turns
  float* frames = nullptr;         // item behind item
  PoolItem* pool_items = nullptr;  // of the run
  float* statistics = nullptr;

 private:
  DeviceMemory memory_;
};

}  // namespace diarist::backend::cuda::campplus
