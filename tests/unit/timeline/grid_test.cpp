#include "timeline/grid.hpp"

#include <gtest/gtest.h>

#include "diarist/error.hpp"

namespace diarist::timeline {
namespace {

TEST(Grid, WindowsOfEveryLength) {
  const auto chunks = [](std::int64_t samples) { return Grid(samples).chunks(); };
  EXPECT_EQ(chunks(0), 0);
  EXPECT_EQ(chunks(1), 1);
  EXPECT_EQ(chunks(399), 1);
  EXPECT_EQ(chunks(159999), 1);
  EXPECT_EQ(chunks(160000), 1);
  EXPECT_EQ(chunks(160001), 2);
  EXPECT_EQ(chunks(176000), 2);
  EXPECT_EQ(chunks(176001), 3);
  EXPECT_EQ(chunks(480000), 21) << "the 30 s recordings";
  EXPECT_EQ(Grid(480000, 32000).chunks(), 11);
  EXPECT_EQ(Grid(480000, 80000).chunks(), 5);
  EXPECT_EQ(Grid(480001, 80000).chunks(), 6);
  EXPECT_EQ(Grid(std::int64_t{16000} * 3600 * 24).chunks(), 86391);
}

TEST(Grid, FirstFramesAsTheSpecificationListsThem) {
  const Grid grid = Grid::of_chunks(400);
  const int expected[] = {0, 59, 119, 178, 237, 296, 356};
  for (int c = 0; c < 7; ++c) EXPECT_EQ(grid.first_frame(c), expected[c]);
  EXPECT_EQ(grid.first_sample(3), 48000);
  EXPECT_EQ(Grid::of_chunks(4, 80000).first_frame(1), 296);
  EXPECT_EQ(Grid::of_chunks(4, 80000).first_sample(3), 240000);
}

TEST(Grid, EveryWindowFitsIntoTheFrames) {
  EXPECT_EQ(Grid::of_chunks(0).frames(), 0);
  EXPECT_EQ(Grid::of_chunks(1).frames(), 594);
  EXPECT_EQ(Grid::of_chunks(21).frames(), 1779);     // captured
  EXPECT_EQ(Grid::of_chunks(1409).frames(), 84031);  // captured
  for (const int step : {16000, 32000, 80000})
    for (int chunks = 1; chunks < 3000; chunks += 7) {
      const Grid grid = Grid::of_chunks(chunks, step);
      const int end = grid.first_frame(chunks - 1) + kFramesPerChunk;
      EXPECT_LE(end, grid.frames());
      EXPECT_GE(end, grid.frames() - 6);
    }
}

TEST(Grid, MiddlesOfFrames) {
  EXPECT_EQ(Grid::middle(0), 0.03096875);
  EXPECT_EQ(Grid::middle(100), 0.5 * (100 * 0.016875 + (100 * 0.016875 + 0.0619375)));
}

TEST(Grid, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Grid(-1), Error);
  EXPECT_THROW(Grid(16000, 0), Error);
  EXPECT_THROW(Grid(16000, 160001), Error);
  EXPECT_THROW(Grid::of_chunks(-1), Error);
  EXPECT_THROW(Grid(std::int64_t{1} << 62), Error);
}

}  // namespace
}  // namespace diarist::timeline
