#include "timeline/turn_check.hpp"

#include <gtest/gtest.h>

#include "diarist/error.hpp"

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

constexpr std::int64_t kManyRows = 1 << 20;

TEST(PiecesToCheck, AreRunsOfASingleColumnInPiecesOfThreeSeconds) {
  FrameMatrix matrix = matrix_of(1000, 2);
  fill(matrix, 1, 0, 177);    // 9 * 177 = 1593: one piece
  fill(matrix, 0, 200, 378);  // 9 * 178 = 1602: two pieces
  fill(matrix, 0, 400, 500);
  fill(matrix, 1, 440, 470);  // overlap cuts the run into 40 and 30 frames
  fill(matrix, 1, 600, 629);  // 29 frames: too short
  const std::vector<Piece> pieces = pieces_to_check(matrix, 2, kManyRows);
  const int expected[][3] = {
      {200, 289, 0}, {289, 378, 0}, {400, 440, 0}, {470, 500, 0}, {0, 177, 1}};
  ASSERT_EQ(pieces.size(), std::size(expected));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(pieces[i].from, expected[i][0]);
    EXPECT_EQ(pieces[i].to, expected[i][1]);
    EXPECT_EQ(pieces[i].column, expected[i][2]);
    EXPECT_EQ(pieces[i].first_row, (27 * expected[i][0] + 36) / 16);
    EXPECT_EQ(pieces[i].end_row, (27 * expected[i][1] + 36) / 16);
  }
}

TEST(PiecesToCheck, LeavePhantomColumnsAndSingleSpeakersAlone) {
  FrameMatrix matrix = matrix_of(300, 3);
  fill(matrix, 2, 0, 100);
  fill(matrix, 0, 150, 250);
  EXPECT_EQ(pieces_to_check(matrix, 2, kManyRows).size(), 1U) << "column 2 has no centroid";
  EXPECT_EQ(pieces_to_check(matrix, 3, kManyRows).size(), 2U);
  EXPECT_TRUE(pieces_to_check(matrix, 1, kManyRows).empty());
  EXPECT_TRUE(pieces_to_check(matrix, 0, kManyRows).empty());
  EXPECT_EQ(pieces_to_check(matrix, 9, kManyRows).size(), 2U) << "more centroids than columns";
}

TEST(PiecesToCheck, NeedFortyRowsThatExist) {
  FrameMatrix matrix = matrix_of(300, 2);
  fill(matrix, 0, 0, 100);  // rows 2 .. 170
  EXPECT_EQ(pieces_to_check(matrix, 2, 42).size(), 1U);
  EXPECT_EQ(pieces_to_check(matrix, 2, 42)[0].end_row, 42);
  EXPECT_TRUE(pieces_to_check(matrix, 2, 41).empty());
}

TEST(PreferredColumn, NeedsAClearMargin) {
  const std::vector<double> centroids = {1, 0, 0, 1, -1, 0};
  EXPECT_EQ(preferred_column(std::vector<float>{1, 5}, centroids, 0), 1);
  EXPECT_EQ(preferred_column(std::vector<float>{1, 5}, centroids, 1), 1);
  EXPECT_EQ(preferred_column(std::vector<float>{1.0F, 1.1F}, centroids, 0), 0) << "0.067 apart";
  EXPECT_EQ(preferred_column(std::vector<float>{-3, 0}, centroids, 1), 2);
  EXPECT_THROW(preferred_column(std::vector<float>{1, 5}, centroids, 3), Error);
  EXPECT_THROW(preferred_column(std::vector<float>{1, 5, 3, 4}, centroids, 0), Error);
}

TEST(ApplyMoves, MoveWhatTheColumnHas) {
  FrameMatrix regular = matrix_of(20, 2), exclusive = matrix_of(20, 2);
  fill(regular, 0, 0, 10);
  fill(exclusive, 0, 0, 4);  // the exclusive matrix may have less
  const std::vector<Move> moves = {{2, 6, 0, 1}};
  apply_moves(regular, moves);
  apply_moves(exclusive, moves);
  for (int frame = 0; frame < 20; ++frame) {
    EXPECT_EQ(regular.at(frame, 0), frame < 10 && (frame < 2 || frame >= 6)) << frame;
    EXPECT_EQ(regular.at(frame, 1), frame >= 2 && frame < 6) << frame;
    EXPECT_EQ(exclusive.at(frame, 0), frame < 2) << frame;
    EXPECT_EQ(exclusive.at(frame, 1), frame >= 2 && frame < 4) << frame;
  }
}

TEST(ApplyMoves, ToAClusterThatHadNoFramesAddsItsColumn) {
  FrameMatrix matrix = matrix_of(5, 1);
  fill(matrix, 0, 0, 5);
  apply_moves(matrix, std::vector<Move>{{1, 3, 0, 2}});
  EXPECT_EQ(matrix.columns, 3);
  EXPECT_EQ(matrix.cells, (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0}));
  EXPECT_THROW(apply_moves(matrix, std::vector<Move>{{1, 6, 0, 1}}), Error);
}

}  // namespace
}  // namespace diarist::timeline
