// Confidence of turns, by shares worked out by hand.

#include "timeline/confidence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "diarist/error.hpp"

namespace diarist::timeline {
namespace {

// Two windows: frames 0 to 588, and 59 to 647.
class Confidence : public testing::Test {
 protected:
  float of(int first, int end, int column, const std::vector<Move>& moves = {}) {
    std::vector<Segment> segments = {{0, 0, column, first, end}};
    add_confidence(grid_, activity_, hard_, moves, segments);
    return segments[0].confidence;
  }
  void speak(int window, int speaker, int from, int to) {  // frames of the recording
    for (int f = from; f < to; ++f)
      activity_[static_cast<std::size_t>(window * 589 + f - grid_.first_frame(window))] |=
          static_cast<std::uint8_t>(1U << speaker);
  }

  Grid grid_ = Grid::of_chunks(2);
  std::vector<std::uint8_t> activity_ = std::vector<std::uint8_t>(2 * 589);
  std::vector<std::int32_t> hard_ = {0, -2, -2, 1, 0, 0};
};

TEST_F(Confidence, IsTheMeanShareOfWindowsThatHearTheSpeaker) {
  speak(0, 0, 40, 120);   // cluster 0 in window 0
  speak(1, 1, 110, 120);  // and in window 1
  EXPECT_EQ(of(40, 50, 0), 1.0F) << "one window covers these frames and hears it";
  EXPECT_EQ(of(100, 110, 0), 0.5F) << "two windows, one hears it";
  EXPECT_EQ(of(110, 120, 0), 1.0F);
  EXPECT_EQ(of(54, 64, 0), 0.75F) << "five frames of 1 (before frame 59), five of one half";
  EXPECT_EQ(of(115, 125, 0), 0.5F) << "five frames of 1, five of 0";
  EXPECT_EQ(of(40, 50, 1), 0.0F) << "cluster 1 is in the other window only";
}

TEST_F(Confidence, LocalSpeakersOfOneClusterCountOnce) {
  speak(1, 1, 100, 110);
  speak(1, 2, 100, 110);  // cluster 0 twice in window 1
  EXPECT_EQ(of(100, 110, 0), 0.5F);
}

TEST_F(Confidence, MovedFramesCountForWhereTheyCameFrom) {
  speak(0, 0, 100, 120);
  speak(1, 1, 100, 120);
  speak(1, 0, 120, 130);  // cluster 1
  EXPECT_EQ(of(100, 130, 1), 10 * 0.5F / 30);
  EXPECT_EQ(of(100, 130, 1, {{100, 120, 0, 1}}), (20 * 1.0F + 10 * 0.5F) / 30);
  EXPECT_EQ(of(100, 120, 1, {{100, 110, 2, 1}}), 0.0F) << "from a phantom column";
}

TEST_F(Confidence, FramesThatNoWindowCoversHaveNone) {
  speak(1, 1, 638, 648);
  EXPECT_EQ(of(638, 658, 0), 0.5F);
  EXPECT_EQ(of(0, 0, 0), 1.0F) << "no frames: left alone";
  std::vector<Segment> segments = {{0, 1, 0, 0, 10}};
  EXPECT_THROW(add_confidence(grid_, std::vector<std::uint8_t>(589), hard_, {}, segments), Error);
}

TEST(Segments, KnowTheirFrames) {
  FrameMatrix matrix{.frames = 20, .columns = 1, .cells = std::vector<std::uint8_t>(20)};
  for (const int frame : {3, 4, 5, 8, 9}) matrix.at(frame, 0) = 1;
  const std::vector<Segment> runs = segments_of(matrix);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].first_frame, 3);
  EXPECT_EQ(runs[0].end_frame, 6);
  const std::vector<Segment> joined = segments_of(matrix, 1.0);
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(joined[0].end_frame, 10);
}

}  // namespace
}  // namespace diarist::timeline
