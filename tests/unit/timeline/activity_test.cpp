#include "timeline/activity.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "diarist/error.hpp"

namespace diarist::timeline {
namespace {

TEST(DecodeClasses, GivesTheSpeakersOfThePowerset) {
  const std::vector<std::uint8_t> classes = {0, 1, 2, 3, 4, 5, 6};
  std::vector<std::uint8_t> activity(7);
  decode_classes(classes, activity);
  EXPECT_EQ(activity, (std::vector<std::uint8_t>{0b000, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110}));
  EXPECT_THROW(decode_classes(std::vector<std::uint8_t>(7, 7), activity), Error);
  EXPECT_THROW(decode_classes(std::vector<std::uint8_t>(3, 0), activity), Error);
}

std::vector<std::uint8_t> window(int alone, int overlapped) {
  std::vector<std::uint8_t> bits(589, 0);
  std::fill_n(bits.begin() + 100, alone, std::uint8_t{0b010});
  std::fill_n(bits.begin() + 300, overlapped, std::uint8_t{0b110});
  return bits;
}

int set_frames(const std::vector<std::uint8_t>& bits, int speaker) {
  std::vector<float> mask(589, -1.0F);
  embedding_mask(bits, speaker, mask);
  for (const float value : mask) EXPECT_TRUE(value == 0.0F || value == 1.0F);
  return static_cast<int>(std::accumulate(mask.begin(), mask.end(), 0.0F));
}

TEST(EmbeddingMask, TakesCleanFramesOnlyWhenThereAreMoreThanTwo) {
  EXPECT_EQ(set_frames(window(3, 50), 1), 3);
  EXPECT_EQ(set_frames(window(2, 50), 1), 52);
  EXPECT_EQ(set_frames(window(0, 50), 1), 50);
  EXPECT_EQ(set_frames(window(0, 50), 2), 50);
  EXPECT_EQ(set_frames(window(200, 0), 1), 200);
  EXPECT_EQ(set_frames(window(200, 50), 0), 0);
}

TEST(Activity, CleanFramesAndWhoIsActive) {
  const std::vector<std::uint8_t> bits = window(5, 7);
  EXPECT_EQ(clean_frames(bits, 0), 0);
  EXPECT_EQ(clean_frames(bits, 1), 5);
  EXPECT_EQ(clean_frames(bits, 2), 0);
  EXPECT_FALSE(is_active(bits, 0));
  EXPECT_TRUE(is_active(bits, 1));
  EXPECT_TRUE(is_active(bits, 2));
}

}  // namespace
}  // namespace diarist::timeline
