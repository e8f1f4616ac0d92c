#include "backend/cuda/campplus/campplus_workspace.hpp"

#include <cuda_fp16.h>

#include <algorithm>

#include "backend/cuda/campplus/pack_plan.hpp"
#include "backend/cuda/check.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/kernels/campplus/gather.hpp"

namespace diarist::backend::cuda::campplus {
namespace {

// More gains nothing on an H200, and costs 7 kB a row.
constexpr std::int64_t kMostRows = 32768;
// Maps of this many rows still live in the second-level cache for a good part.
constexpr int kSlabRows = 16384;
constexpr int kMapFrequencies = 40, kHeadFrequencies = 10;

std::int64_t rounded_down(std::int64_t rows) { return rows / 32 * 32; }

/// Hands out pieces of a block; with a null block it only counts.
class Cutter {
 public:
  explicit Cutter(std::byte* block) : block_(block) {}
  template <typename T>
  void cut(T*& piece, std::size_t count) {
    piece = reinterpret_cast<T*>(cut_bytes(count * sizeof(T)));
  }
  void* cut_bytes(std::size_t bytes) {
    constexpr std::size_t kAlign = 1024;
    std::byte* const piece = block_ == nullptr ? nullptr : block_ + used_;
    used_ += (bytes + kAlign - 1) / kAlign * kAlign;
    return piece;
  }
  __half* halves(std::size_t count) { return static_cast<__half*>(cut_bytes(count * 2)); }
  std::size_t used() const noexcept { return used_; }

 private:
  std::byte* block_;
  std::size_t used_ = 0;
};

}  // namespace

PackLimits pack_limits(int max_items, std::int64_t max_length, int multiprocessors) noexcept {
  PackLimits limits;
  limits.items = max_items;
  const std::int64_t single = rows_of_pack(1, max_length);
  const std::int64_t all = rows_of_pack(max_items, max_length);
  // Units of a pack lie kTileLead before the first tile's end as well.
  const std::int64_t wave = std::int64_t{2} * kTileUnits * multiprocessors;
  const std::int64_t waves = std::max<std::int64_t>(1, kMostRows / wave);
  const std::int64_t full = rounded_down(waves * wave - 2 * kTileLead);
  limits.rows = static_cast<int>(std::max(single, std::min(all, full)));
  limits.slab_rows = std::min(limits.rows, kSlabRows);
  limits.most_slab_rows = std::min(limits.rows, slab_room(limits.slab_rows, max_length));
  return limits;
}

CampplusWorkspace::CampplusWorkspace(int device, const PackLimits& limits, bool exact,
                                     bool keeps_frames, int columns) {
  const auto cut = [&](std::byte* block) {
    Cutter cutter(block);
    const auto items_count = static_cast<std::size_t>(limits.items);
    cutter.cut(range, items_count);
    if (columns > 0) {
      cutter.cut(pool_items, items_count);
      cutter.cut(statistics, items_count * 2 * static_cast<std::size_t>(columns));
    }
    if (limits.rows == 0) return cutter.used();
    const auto pack_rows = static_cast<std::size_t>(limits.rows), units = pack_rows / 2;
    const std::size_t parts = exact ? 2 : 1;
    // The shortest items take eight rows.
    const std::size_t pack_items = std::min(items_count, pack_rows / kRowStep);
    const std::size_t most_segments = units / kSegmentUnits + pack_items + 1;
    cutter.cut(items, pack_items);
    cutter.cut(segments, most_segments);
    cutter.cut(tiles, static_cast<std::size_t>(tiles_of_pack(limits.rows)));
    cutter.cut(row_items, pack_rows);
    cutter.cut(unit_segments, units);
    cutter.cut(means, pack_items * kBands);
    plane_pitch = limits.rows + kFeatureLead + kFeatureTail;
    const std::size_t plane = static_cast<std::size_t>(plane_pitch) * kBands;
    planes = cutter.halves(plane * parts);
    low_planes = exact && planes != nullptr ? planes + plane : nullptr;
    map_rows = (limits.most_slab_rows + 31) / 32 * 32;
    maps = cutter.halves(2 * static_cast<std::size_t>(map_rows) * kMapFrequencies * 32 * parts);
    head_pitch = limits.rows;
    head = cutter.halves(pack_rows * kHeadFrequencies * 32 * parts);
    for (void*& array : rows) array = cutter.cut_bytes(units * kFrameColumns * 2 * parts);
    for (float*& array : local) cutter.cut(array, units * kGrowth);
    for (ExactSum*& array : sums) cutter.cut(array, most_segments * 2 * kHidden);
    if (keeps_frames) cutter.cut(frames, units * 512);
    return cutter.used();
  };
  memory_ = DeviceMemory(device, cut(nullptr), "CAM++ workspace");
  cut(memory_.as<std::byte>());
  // Zero columns before the first row and behind the last one; the rest costs nothing once.
  CudaQueue queue(device);
  const DeviceGuard guard(device);
  check(cudaMemsetAsync(memory_.data(), 0, memory_.bytes(), queue.stream()), "CAM++ workspace");
  queue.wait();
}

}  // namespace diarist::backend::cuda::campplus
