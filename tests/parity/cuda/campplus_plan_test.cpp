// Where items lie on the time axis; needs no GPU.

#include <gtest/gtest.h>

#include <algorithm>

#include "../backends/graph_runner.hpp"
#include "backend/cuda/campplus/campplus_workspace.hpp"
#include "backend/cuda/campplus/pack_plan.hpp"

namespace diarist::test {
namespace {

using namespace backend::cuda::campplus;  // NOLINT(google-build-using-namespace)

void expect_sound(const PackPlan& plan, int capacity, int slab, int longest) {
  ASSERT_LE(plan.rows, capacity);
  ASSERT_EQ(plan.rows % 32, 0);
  int end = 0;
  std::size_t segments = 0;
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    const PackItem& item = plan.items[i];
    EXPECT_EQ(item.first_row % kRowStep, kGapRows);
    EXPECT_GE(item.first_row - end, kGapRows);
    end = item.first_row + 2 * item.units();
    EXPECT_EQ(item.first_segment, static_cast<int>(segments));
    int units = 0;
    for (; segments < plan.segments.size() && plan.segments[segments].item == static_cast<int>(i);
         ++segments) {
      const PackSegment& segment = plan.segments[segments];
      EXPECT_EQ(segment.first_unit, item.first_unit() + units);
      EXPECT_EQ(segment.item_units, item.units());
      units += segment.units;
      EXPECT_TRUE(segment.units == kSegmentUnits || units == item.units());
    }
    EXPECT_EQ(units, item.units());
  }
  EXPECT_EQ(segments, plan.segments.size());
  EXPECT_LE(end + kGapRows, plan.rows);
  int row = 0;
  for (const Slab& each : plan.slabs) {
    EXPECT_EQ(each.first_row, row);
    EXPECT_EQ(each.first_row % kRowStep, 0);
    EXPECT_LE(each.rows, slab_room(slab, longest));
    row += each.rows;
    for (const PackItem& item : plan.items) {
      if (item.first_row < each.first_row || item.first_row >= each.first_row + each.rows) continue;
      EXPECT_LE(item.first_row + 2 * item.units(), each.first_row + each.rows);
    }
  }
  EXPECT_GE(row, end);
  EXPECT_LE(row, plan.rows);
}

// Against the definition, unit by unit.
void expect_tiles(const PackPlan& plan) {
  std::vector<int> owner(static_cast<std::size_t>(plan.rows / 2), -1);
  for (std::size_t s = 0; s < plan.segments.size(); ++s)
    for (int u = 0; u < plan.segments[s].units; ++u)
      owner[static_cast<std::size_t>(plan.segments[s].first_unit + u)] = static_cast<int>(s);
  const auto at = [&](int unit) {
    return unit < 0 || unit >= static_cast<int>(owner.size())
               ? -1
               : owner[static_cast<std::size_t>(unit)];
  };
  ASSERT_GE(static_cast<int>(plan.tiles.size()) * kTileUnits - kTileLead, plan.rows / 2);
  for (std::size_t t = 0; t < plan.tiles.size(); ++t) {
    const int base = static_cast<int>(t) * kTileUnits - kTileLead;
    int first = -1, last = -1;
    for (int r = 0; r < kTileRows; ++r) {
      const int segment = at(base + r);
      if (segment >= 0 && first < 0) first = segment;
      last = std::max(last, segment);
    }
    const PackTile& tile = plan.tiles[t];
    if (first < 0) {
      EXPECT_LT(tile.last, tile.first);
      continue;
    }
    EXPECT_EQ(tile.first, first);
    EXPECT_EQ(tile.last, last);
    const auto item = [&](int s) { return plan.segments[static_cast<std::size_t>(s)].item; };
    for (int s = 0; s < static_cast<int>(plan.segments.size()); ++s) {
      const bool wanted = item(s) >= item(first) && item(s) <= item(last);
      EXPECT_EQ(s >= tile.first_sum && s <= tile.last_sum, wanted);
    }
    EXPECT_EQ(tile.cut_before == 1, at(base) >= 0 && at(base) == at(base - kGroupUnits));
    EXPECT_EQ(tile.cut_behind == 1,
              at(base + kTileUnits) >= 0 && at(base + kTileUnits) == at(base + kTileUnits - 4));
  }
}

TEST(CampplusPlan, ItemsKeepTheirDistance) {
  Random random(1);
  for (const int longest : {1, 2, 30, 998, 2500}) {
    std::vector<std::int32_t> lengths;
    for (int i = 0; i < 300; ++i)
      lengths.push_back(static_cast<std::int32_t>(1 + random.below(longest)));
    const PackLimits limits = pack_limits(300, longest, 20);
    const PackPlanner planner(limits.rows, 3000);
    const int target = planner.balanced_rows(lengths);
    PackPlan plan;
    int first = 0, packs = 0;
    for (; first < 300; ++packs) {
      planner.next(lengths, first, target, plan);
      ASSERT_EQ(plan.first_item, first);
      ASSERT_GE(plan.items.size(), 1U);
      for (std::size_t i = 0; i < plan.items.size(); ++i)
        EXPECT_EQ(plan.items[i].rows, lengths[static_cast<std::size_t>(first) + i]);
      expect_sound(plan, limits.rows, 3000, longest);
      expect_tiles(plan);
      first += static_cast<int>(plan.items.size());
    }
    EXPECT_EQ(first, 300);
    EXPECT_LE(packs, 1 + 300 * rows_taken(longest) / (limits.rows - rows_taken(longest)));
  }
}

TEST(CampplusPlan, APackIsNoLargerThanTheRunOrTheGpu) {
  EXPECT_EQ(pack_limits(1, 998, 132).rows, rows_of_pack(1, 998));
  EXPECT_LE(pack_limits(400, 998, 132).rows, 2 * kTileUnits * 132);
  EXPECT_GE(pack_limits(400, 998, 132).rows, 2 * kTileUnits * 132 - 64);
  EXPECT_GE(pack_limits(4, 100000, 132).rows, rows_of_pack(1, 100000));
}

}  // namespace
}  // namespace diarist::test
