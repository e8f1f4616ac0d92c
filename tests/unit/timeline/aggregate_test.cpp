#include "timeline/aggregate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "diarist/error.hpp"
#include "support/golden.hpp"
#include "timeline/confidence.hpp"
#include "timeline/turns.hpp"

namespace diarist::timeline {
namespace {

// Sets bits in frames [from, to) of the recording, in every window that covers them.
void speak(const Grid& grid, std::vector<std::uint8_t>& activity, int from, int to,
           std::uint8_t bits, int last_chunk = 1 << 30) {
  for (int c = 0; c < std::min(grid.chunks(), last_chunk); ++c)
    for (int f = 0; f < kFramesPerChunk; ++f)
      if (grid.first_frame(c) + f >= from && grid.first_frame(c) + f < to)
        activity[static_cast<std::size_t>(c * kFramesPerChunk + f)] |= bits;
}

TEST(CountSpeakers, RoundsHalfToEvenAndLeavesTheTailSilent) {
  const Grid grid = Grid::of_chunks(2);
  std::vector<std::uint8_t> activity(2 * 589);
  speak(grid, activity, 100, 110, 0b001, 1);  // one of two windows: 0.5 -> 0
  speak(grid, activity, 200, 210, 0b001);     // 1
  speak(grid, activity, 300, 310, 0b001);
  speak(grid, activity, 300, 310, 0b010, 1);  // 1.5 -> 2
  speak(grid, activity, 10, 20, 0b011);       // one window covers: 2
  const std::vector<std::uint8_t> counts = count_speakers(grid, activity);
  ASSERT_EQ(counts.size(), static_cast<std::size_t>(grid.frames()));
  EXPECT_EQ(counts[105], 0);
  EXPECT_EQ(counts[205], 1);
  EXPECT_EQ(counts[305], 2);
  EXPECT_EQ(counts[15], 2);
  EXPECT_EQ(counts[20], 0);
  std::vector<std::uint8_t> all(2 * 589, 0b001);
  const std::vector<std::uint8_t> full = count_speakers(grid, all);
  EXPECT_EQ(full[static_cast<std::size_t>(grid.first_frame(1) + 588)], 1);
  EXPECT_EQ(full.back(), 0) << "no window covers the last frames";
  EXPECT_THROW(count_speakers(grid, std::vector<std::uint8_t>(589)), Error);
}

TEST(CapCounts, IsAMaximum) {
  std::vector<std::uint8_t> counts = {0, 1, 2, 3};
  cap_counts(counts, 2);
  EXPECT_EQ(counts, (std::vector<std::uint8_t>{0, 1, 2, 2}));
  cap_counts(counts, 300);
  EXPECT_EQ(counts, (std::vector<std::uint8_t>{0, 1, 2, 2}));
  EXPECT_THROW(cap_counts(counts, -1), Error);
}

TEST(Reconstruct, PhantomColumnsHoldVoicesWithoutCluster) {
  const Grid grid = Grid::of_chunks(1);
  std::vector<std::uint8_t> activity(589);
  speak(grid, activity, 0, 100, 0b001);
  speak(grid, activity, 50, 100, 0b010);
  const std::vector<std::int32_t> hard = {0, -2, -2};  // the second voice got no cluster
  const FrameMatrix matrix = reconstruct(grid, activity, hard, count_speakers(grid, activity));
  EXPECT_EQ(matrix.columns, 2);
  EXPECT_EQ(matrix.at(10, 0), 1);
  EXPECT_EQ(matrix.at(10, 1), 0);
  EXPECT_EQ(matrix.at(60, 0), 1);
  EXPECT_EQ(matrix.at(60, 1), 1) << "its activation is 0, but two voices were counted";
}

TEST(Reconstruct, LocalSpeakersOfOneClusterCountOnce) {
  const Grid grid = Grid::of_chunks(2);
  std::vector<std::uint8_t> activity(2 * 589);
  // Window 0 has two local speakers of cluster 1, window 1 has one of cluster 0: in a frame that
  // both cover, cluster 1 would win 2:1 if its speakers were added, but it is 1:1.
  std::fill(activity.begin(), activity.begin() + 589, std::uint8_t{0b011});
  std::fill(activity.begin() + 589, activity.end(), std::uint8_t{0b001});
  const std::vector<std::int32_t> hard = {1, 1, -2, 0, -2, -2};
  std::vector<std::uint8_t> counts(static_cast<std::size_t>(grid.frames()), 1);
  const FrameMatrix matrix = reconstruct(grid, activity, hard, counts);
  EXPECT_EQ(matrix.columns, 2);
  EXPECT_EQ(matrix.at(10, 1), 1) << "only window 0";
  EXPECT_EQ(matrix.at(300, 0), 1) << "equal activations: the lower column";
  EXPECT_EQ(matrix.at(300, 1), 0);
}

TEST(Reconstruct, WithoutAnyClusterOrVoiceIsEmpty) {
  const Grid grid = Grid::of_chunks(1);
  const std::vector<std::uint8_t> activity(589);
  const FrameMatrix matrix =
      reconstruct(grid, activity, std::vector<std::int32_t>(3, -2), count_speakers(grid, activity));
  EXPECT_EQ(matrix.frames, 594);
  EXPECT_EQ(matrix.columns, 0);
  EXPECT_TRUE(matrix.cells.empty());
  EXPECT_THROW(
      reconstruct(grid, activity, std::vector<std::int32_t>(2, 0), std::vector<std::uint8_t>(594)),
      Error);
  EXPECT_THROW(
      reconstruct(grid, activity, std::vector<std::int32_t>(3, 0), std::vector<std::uint8_t>(593)),
      Error);
}

// 5, 19 and 40 clusters: the last two need the order that an unstable sort leaves.
TEST(Reconstruct, EqualsTheExecutableSpecificationWithManyColumns) {
  const test::Golden golden(std::filesystem::path(DIARIST_GOLDEN) / "columns.npz");
  ASSERT_EQ(golden.cases(), 3);
  for (int i = 0; i < golden.cases(); ++i) {
    const std::string number = std::to_string(i);
    const auto hard = golden.get<std::int32_t>("hard" + number);
    const Grid grid = Grid::of_chunks(static_cast<int>(hard.size() / 3));
    const auto activity =
        test::activity_bits(golden.bits("seg" + number, hard.size() / 3 * 589 * 3));
    const std::vector<std::uint8_t> counts = count_speakers(grid, activity);
    EXPECT_EQ(counts, golden.get<std::uint8_t>("count" + number));
    const FrameMatrix matrix = reconstruct(grid, activity, hard, counts);
    ASSERT_EQ(matrix.columns, golden.get<std::int32_t>("columns" + number).at(0));
    EXPECT_EQ(matrix.cells, golden.bits("binary" + number, matrix.cells.size()));
  }
}

TEST(Reconstruct, AndItsNeighboursHearAStop) {
  const Grid grid = Grid::of_chunks(2);
  std::vector<std::uint8_t> activity(2 * 589, 1);
  const std::vector<std::int32_t> hard = {0, -2, -2, 0, -2, -2};
  std::stop_source source;
  const std::stop_token stop = source.get_token();
  const std::vector<std::uint8_t> counts = count_speakers(grid, activity, stop);
  std::vector<Segment> segments = segments_of(reconstruct(grid, activity, hard, counts, stop));
  ASSERT_EQ(segments.size(), 1U);
  source.request_stop();
  const auto cancelled = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code() == ErrorCode::kCancelled;
    }
    return false;
  };
  EXPECT_TRUE(cancelled([&] { count_speakers(grid, activity, stop); }));
  EXPECT_TRUE(cancelled([&] { reconstruct(grid, activity, hard, counts, stop); }));
  EXPECT_TRUE(cancelled([&] { add_confidence(grid, activity, hard, {}, segments, stop); }));
}

}  // namespace
}  // namespace diarist::timeline
