#pragma once
// How items of many lengths lie on one time axis, so that a batch is one large input.
//
// A row is 10 ms, a unit (behind the stride-2 layer) two rows. Items start at rows that are 4 mod
// 8, hence at units that are 2 mod 4, and at least 4 rows (2 units) behind the end of the item
// before: 3x3 convolutions, the 5-tap layer and dilated convolutions of the units never see
// another item. Rows and units that belong to no item are zero in every map that a neighbour reads.

#include <cstdint>

#include "backend/cuda/kernels/half.hpp"

namespace diarist::backend::cuda::campplus {

inline constexpr int kBands = 80;
inline constexpr int kGapRows = 4, kRowStep = 8;
inline constexpr int kSegmentUnits = 100;  // units that share a local context

/// Units are summed in groups of four, counted from the item's start; a tile of the dense layers
/// owns 31 groups. A segment (25 groups) lies in one tile or two.
inline constexpr int kGroupUnits = 4, kTileGroups = 31;
inline constexpr int kTileUnits = kGroupUnits * kTileGroups;
inline constexpr int kTileLead = 2;    // units before a tile's own ones that it reads as well
inline constexpr int kTileRows = 128;  // units that it reads

struct PackItem {
  std::int32_t first_row = 0, rows = 0;
  std::int32_t first_segment = 0;
  std::int64_t first_index = 0;  // element of the indices
  std::int64_t first_frame = 0;  // row of the frames

  int first_unit() const { return first_row / 2; }
  int units() const { return (rows + 1) / 2; }
};

struct alignas(16) PackSegment {
  std::int32_t item = 0;  // of the pack
  std::int32_t first_unit = 0, units = 0;
  std::int32_t item_units = 0;
};

/// What a tile of the dense layers has to do with segments. Its own units are kTileUnits from
/// kTileUnits * tile on; the groups that it sums begin kTileLead units earlier.
struct alignas(16) PackTile {
  std::int32_t first = 0, last = -1;          // segments that it reads
  std::int32_t first_sum = 0, last_sum = -1;  // all segments of their items
  std::int32_t cut_before = 0;                // 1: the segment of its first group began before
  std::int32_t cut_behind = 0;                // 1: the segment of its last group goes on
  std::int32_t unused[2] = {};
};

/// Tables of a pack on the device.
struct PackTables {
  const PackItem* items = nullptr;
  const PackSegment* segments = nullptr;
  const PackTile* tiles = nullptr;
  const std::int32_t* row_items = nullptr;      // [rows] item of the pack, -1: none
  const std::int32_t* unit_segments = nullptr;  // [units] segment, -1: none
  std::uint32_t* range = nullptr;               // word per item of the pack
  int items_count = 0;
  int tiles_count = 0;
  int rows = 0;   // a multiple of 32
  int units = 0;  // rows / 2
};

}  // namespace diarist::backend::cuda::campplus
