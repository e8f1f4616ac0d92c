#include "timeline/turns.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/golden.hpp"
#include "support/segment_rttm.hpp"
#include "timeline/grid.hpp"

namespace diarist::timeline {
namespace {

FrameMatrix matrix_of(int frames, int columns) {
  FrameMatrix matrix;
  matrix.frames = frames;
  matrix.columns = columns;
  matrix.cells.assign(static_cast<std::size_t>(frames * columns), 0);
  return matrix;
}

void fill(FrameMatrix& matrix, int column, int from, int to) {
  for (int frame = from; frame < to; ++frame) matrix.at(frame, column) = 1;
}

TEST(SegmentsOf, EndAtTheMiddleOfTheFirstUnsetFrame) {
  FrameMatrix matrix = matrix_of(50, 1);
  fill(matrix, 0, 3, 7);
  fill(matrix, 0, 9, 10);
  const std::vector<Segment> segments = segments_of(matrix);
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_EQ(segments[0].start, Grid::middle(3));
  EXPECT_EQ(segments[0].end, Grid::middle(7));
  EXPECT_EQ(segments[1].start, Grid::middle(9));
  EXPECT_EQ(segments[1].end, Grid::middle(10));
}

TEST(SegmentsOf, ARunToTheLastFrameEndsThere) {
  FrameMatrix matrix = matrix_of(20, 2);
  fill(matrix, 0, 15, 20);
  fill(matrix, 1, 19, 20);  // the last frame alone has no length
  const std::vector<Segment> segments = segments_of(matrix);
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].column, 0);
  EXPECT_EQ(segments[0].end, Grid::middle(19));
  EXPECT_TRUE(segments_of(matrix_of(0, 0)).empty());
}

TEST(SegmentsOf, FillsGapsOfOneColumnThatAreShorterThanTheLimit) {
  FrameMatrix matrix = matrix_of(100, 2);
  fill(matrix, 0, 0, 10);
  fill(matrix, 0, 20, 30);  // gap of 10 frames
  fill(matrix, 0, 41, 50);  // gap of 11 frames
  const double limit = Grid::middle(20) - Grid::middle(10) + 1e-9;
  EXPECT_EQ(segments_of(matrix).size(), 3U);
  const std::vector<Segment> joined = segments_of(matrix, limit);
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].end, Grid::middle(30));
}

// Up to 30 columns, so text order of columns and of track names differs from number order.
TEST(SegmentsOf, OrderAndNamesOfTheReference) {
  const test::Golden golden(std::filesystem::path(DIARIST_GOLDEN) / "segments.npz");
  ASSERT_EQ(golden.cases(), 3);
  const double gaps[] = {0.0, 0.3, 1.0};
  for (int i = 0; i < golden.cases(); ++i) {
    const std::string number = std::to_string(i);
    const auto shape = golden.get<std::int32_t>("shape" + number);
    FrameMatrix matrix = matrix_of(shape[0], shape[1]);
    matrix.cells = golden.bits("binary" + number, matrix.cells.size());
    for (int g = 0; g < 3; ++g) {
      const NamedTurns named = name_like_reference(segments_of(matrix, gaps[g]), {});
      EXPECT_EQ(test::rttm_of(named.turns, named.names, "audio"),
                golden.text("rttm" + number + "_" + std::to_string(g)))
          << "case " << i << " gap " << gaps[g];
    }
  }
}

TEST(NameLikeReference, SortsColumnsAsText) {
  std::vector<Segment> segments;
  for (const int column : {2, 10, 0, 11}) segments.push_back({0.1 * column, 9, column});
  const NamedTurns named = name_like_reference(segments, {{0.5, 0.6, 10}});
  EXPECT_EQ(named.columns, (std::vector<int>{0, 10, 11, 2}));
  EXPECT_EQ(named.names,
            (std::vector<std::string>{"SPEAKER_00", "SPEAKER_01", "SPEAKER_02", "SPEAKER_03"}));
  EXPECT_EQ(named.turns[0].speaker, 3) << "turns keep their order";
  ASSERT_EQ(named.exclusive_turns.size(), 1U);
  EXPECT_EQ(named.exclusive_turns[0].speaker, 1);
}

}  // namespace
}  // namespace diarist::timeline
