#include "backend/cuda/campplus/pack_plan.hpp"

#include <algorithm>

namespace diarist::backend::cuda::campplus {
namespace {

constexpr int kRowsMultiple = 32;

int rounded(int rows, int multiple) { return (rows + multiple - 1) / multiple * multiple; }

void add_segments(int item_number, const PackItem& item, std::vector<PackSegment>& segments) {
  const int count = (item.units() + kSegmentUnits - 1) / kSegmentUnits;
  for (int s = 0; s < count; ++s) {
    PackSegment segment;
    segment.item = item_number;
    segment.first_unit = item.first_unit() + s * kSegmentUnits;
    segment.units = std::min(kSegmentUnits, item.units() - s * kSegmentUnits);
    segment.item_units = item.units();
    segments.push_back(segment);
  }
}

/// The tiles' segments, found in one walk along the axis.
void add_tiles(PackPlan& plan) {
  const std::vector<PackSegment>& segments = plan.segments;
  const int count = static_cast<int>(segments.size());
  const auto begin = [&](int s) { return segments[static_cast<std::size_t>(s)].first_unit; };
  const auto end = [&](int s) { return begin(s) + segments[static_cast<std::size_t>(s)].units; };
  const auto item = [&](int s) { return segments[static_cast<std::size_t>(s)].item; };
  plan.tiles.clear();
  int first = 0;
  for (int t = 0; t < tiles_of_pack(plan.rows); ++t) {
    PackTile tile;
    const int base = t * kTileUnits - kTileLead;
    while (first < count && end(first) <= base) ++first;
    int last = first;
    while (last < count && begin(last) < base + kTileRows) ++last;
    tile.first = first;
    tile.last = last - 1;
    if (last > first) {
      tile.first_sum = tile.first;
      while (tile.first_sum > 0 && item(tile.first_sum - 1) == item(tile.first)) --tile.first_sum;
      tile.last_sum = tile.last;
      while (tile.last_sum + 1 < count && item(tile.last_sum + 1) == item(tile.last))
        ++tile.last_sum;
      tile.cut_before = begin(first) < base ? 1 : 0;
      for (int s = first; s < last; ++s)
        if (begin(s) < base + kTileUnits && end(s) > base + kTileUnits) tile.cut_behind = 1;
    }
    plan.tiles.push_back(tile);
  }
}

}  // namespace

int rows_taken(int length) noexcept { return rounded((length + 1) / 2 * 2 + kGapRows, kRowStep); }

int tiles_of_pack(int rows) noexcept {
  return (rows / 2 + kTileLead + kTileUnits - 1) / kTileUnits;
}

std::int64_t rows_of_pack(std::int64_t items, std::int64_t length) noexcept {
  const std::int64_t rows = items * rows_taken(static_cast<int>(length)) + kGapRows;
  return (rows + kRowsMultiple - 1) / kRowsMultiple * kRowsMultiple;
}

int slab_room(int slab, std::int64_t longest) noexcept {
  return slab + rows_taken(static_cast<int>(longest)) + kGapRows;
}

int PackPlanner::balanced_rows(std::span<const std::int32_t> lengths) const noexcept {
  std::int64_t total = 0;
  for (const std::int32_t length : lengths) total += rows_taken(length);
  const std::int64_t room = capacity_ - kGapRows;
  const std::int64_t packs = (total + room - 1) / room;
  return static_cast<int>(std::min<std::int64_t>(room, (total + packs - 1) / packs));
}

void PackPlanner::next(std::span<const std::int32_t> lengths, int first, int target,
                       PackPlan& plan) const {
  plan.first_item = first;
  plan.items.clear();
  plan.segments.clear();
  int row = 0;  // behind the last item's gap
  for (std::size_t i = static_cast<std::size_t>(first); i < lengths.size(); ++i) {
    const int taken = rows_taken(lengths[i]);
    if (!plan.items.empty() && (row >= target || row + taken > capacity_ - kGapRows)) break;
    PackItem item;
    item.first_row = row + kGapRows;
    item.rows = lengths[i];
    item.first_segment = static_cast<std::int32_t>(plan.segments.size());
    add_segments(static_cast<int>(plan.items.size()), item, plan.segments);
    plan.items.push_back(item);
    row += taken;
  }
  plan.rows = rounded(row + kGapRows, kRowsMultiple);
  add_tiles(plan);
  add_slabs(plan, row);
}

/// Slabs of about equal size, so that none is a small rest.
void PackPlanner::add_slabs(PackPlan& plan, int rows) const {
  const int count = (rows + slab_ - 1) / slab_;
  const int target = (rows + count - 1) / count;
  plan.slabs.clear();
  Slab slab;
  for (const PackItem& item : plan.items) {
    if (slab.rows >= target) {
      plan.slabs.push_back(slab);
      slab = {item.first_row - kGapRows, 0};
    }
    slab.rows += rows_taken(item.rows);
  }
  slab.rows += kGapRows;
  plan.slabs.push_back(slab);
}

}  // namespace diarist::backend::cuda::campplus
