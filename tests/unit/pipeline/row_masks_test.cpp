#include "pipeline/row_masks.hpp"

#include <gtest/gtest.h>

namespace diarist::pipeline {
namespace {

TEST(SpeakerRows, FollowTheFramesOfTheMask) {
  std::vector<std::uint8_t> window(589, 0);
  for (int frame = 100; frame < 200; ++frame) window[static_cast<std::size_t>(frame)] = 1;
  for (int frame = 150; frame < 160; ++frame) window[static_cast<std::size_t>(frame)] = 3;
  const std::vector<std::int32_t> rows = speaker_rows(window, 0);
  std::size_t next = 0;
  for (int row = 0; row < kRowsPerWindow; ++row) {
    const int frame = row * 589 / 998;
    const bool expected = frame >= 100 && frame < 200 && !(frame >= 150 && frame < 160);
    if (!expected) continue;
    ASSERT_LT(next, rows.size());
    EXPECT_EQ(rows[next++], row);
  }
  EXPECT_EQ(next, rows.size());
  EXPECT_TRUE(speaker_rows(window, 2).empty());
}

TEST(SpeakerRows, AloneLeavesOutOverlapThatTheFullMaskKeeps) {
  // Two clean frames are too few, so the mask is the full one; "alone" still drops the overlap.
  std::vector<std::uint8_t> window(589, 0);
  for (int frame = 10; frame < 50; ++frame) window[static_cast<std::size_t>(frame)] = 3;
  window[10] = window[11] = 1;
  EXPECT_GT(speaker_rows(window, 0).size(), 60U);
  for (const std::int32_t row : speaker_rows(window, 0, true)) {
    const int frame = row * 589 / 998;
    EXPECT_TRUE(frame == 10 || frame == 11);
  }
}

}  // namespace
}  // namespace diarist::pipeline
