// Two sides, one result: leaks go, real speech stays.

#include "pipeline/split_channels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace diarist::test {
namespace {

using pipeline::Side;
using pipeline::SideLevels;

struct Loud {
  double start;
  double end;
  float level;
};

// 30 s whose samples are +-level, so that the power is its square.
std::shared_ptr<SideLevels> levels(const std::vector<Loud>& stretches, float floor = 0.0001F) {
  std::vector<float> samples(30 * 16000, floor);
  for (const Loud& stretch : stretches)
    for (auto i = static_cast<std::size_t>(stretch.start * 16000);
         i < static_cast<std::size_t>(stretch.end * 16000); ++i)
      samples[i] = i % 2 == 0 ? stretch.level : -stretch.level;
  auto found = std::make_shared<SideLevels>();
  found->add(samples);
  return found;
}

Side side(const std::vector<Turn>& turns, std::shared_ptr<SideLevels> its_levels,
          std::size_t speakers) {
  Side made;
  made.levels = std::move(its_levels);
  made.result.duration = 30;
  made.result.turns = turns;
  made.result.exclusive_turns = turns;
  for (std::size_t i = 0; i < speakers; ++i)
    made.result.speakers.push_back(
        {.name = "SPEAKER_0" + std::to_string(i), .embedding = {static_cast<float>(i)}});
  return made;
}

std::string text(const Diarization& result, const std::vector<Turn>& turns) {
  std::string all;
  for (const Turn& turn : turns) {
    char line[80];
    std::snprintf(line, sizeof(line), "%.1f-%.1f %s; ", turn.start, turn.end,
                  result.speakers.at(static_cast<std::size_t>(turn.speaker)).name.c_str());
    all += line;
  }
  return all;
}

TEST(SideLevels, PowerIsTheMeanSquare) {
  const auto found = levels({{1, 2, 0.5F}}, 0.0F);
  EXPECT_NEAR(found->power(1, 2), 0.25, 1e-7);
  EXPECT_NEAR(found->power(0.5, 1.5), 0.125, 1e-7);
  EXPECT_EQ(found->power(5, 6), 0);
  EXPECT_EQ(found->power(-2, -1), 0);
  EXPECT_EQ(found->power(40, 50), 0);
}

// Both microphones hear both voices, the far one 20 dB lower.
TEST(SplitChannels, LeaksOfBothSidesGo) {
  const auto left = levels({{0, 5, 0.2F}, {6, 11, 0.02F}});
  const auto right = levels({{0, 5, 0.02F}, {6, 11, 0.2F}});
  const Diarization result = pipeline::merge_sides(
      {side({{0, 5, 0}, {6, 11, 1}}, left, 2), side({{0, 5, 0}, {6, 11, 1}}, right, 2)});
  EXPECT_EQ(text(result, result.turns), "0.0-5.0 LEFT_00; 6.0-11.0 RIGHT_00; ");
  EXPECT_EQ(text(result, result.exclusive_turns), "0.0-5.0 LEFT_00; 6.0-11.0 RIGHT_00; ");
  ASSERT_EQ(result.speakers.size(), 2U);
  EXPECT_DOUBLE_EQ(result.speakers[0].speech_seconds, 5);
  EXPECT_EQ(result.speakers[1].embedding, std::vector<float>{1.0F});  // the right side's second
  ASSERT_EQ(result.warnings.size(), 2U);
  EXPECT_EQ(result.warnings[0],
            "5.0 s of turns on the left side were the other side leaking and are left out");
}

TEST(SplitChannels, ASideWithoutAVoiceOfItsOwnIsEmpty) {
  const Diarization result =
      pipeline::merge_sides({side({{2, 8, 0}, {10, 14, 0}}, levels({{2, 14, 0.1F}}), 1),
                             side({{2, 8, 0}, {10, 14, 0}}, levels({{2, 14, 0.04F}}), 1)});
  EXPECT_EQ(text(result, result.turns), "2.0-8.0 LEFT_00; 10.0-14.0 LEFT_00; ");
  EXPECT_EQ(result.speakers.size(), 1U);
}

TEST(SplitChannels, BothSpeakingAtOnceStays) {
  // 5 dB of difference is no leak; and where the other side is loud without speech, it is noise.
  const Diarization result = pipeline::merge_sides(
      {side({{0, 6, 0}, {20, 22, 0}}, levels({{0, 6, 0.1F}, {20, 22, 0.1F}}), 1),
       side({{3, 9, 0}}, levels({{3, 9, 0.17F}, {20, 22, 0.5F}}), 1)});
  EXPECT_EQ(text(result, result.turns), "0.0-6.0 LEFT_00; 3.0-9.0 RIGHT_00; 20.0-22.0 LEFT_00; ");
  // One at a time: the louder goes on.
  EXPECT_EQ(text(result, result.exclusive_turns),
            "0.0-3.0 LEFT_00; 3.0-9.0 RIGHT_00; 20.0-22.0 LEFT_00; ");
  EXPECT_TRUE(result.warnings.empty());
}

TEST(SplitChannels, ATurnThatRunsOnIntoALeakIsCut) {
  const Diarization result =
      pipeline::merge_sides({side({{0, 10, 0}}, levels({{0, 5, 0.2F}, {5, 10, 0.02F}}), 1),
                             side({{5, 10, 0}}, levels({{0, 5, 0.01F}, {5, 10, 0.2F}}), 1)});
  ASSERT_EQ(result.turns.size(), 2U);
  EXPECT_EQ(result.turns[0].start, 0);
  EXPECT_NEAR(result.turns[0].end, 5, pipeline::CrossTalk::kWindow);
  EXPECT_EQ(result.turns[1].start, 5);
  for (const Turn& turn : result.turns) EXPECT_LT(turn.start, turn.end);
}

TEST(SplitChannels, ShortPausesUnderTheOtherVoiceDoNotCutATurn) {
  const Diarization result =
      pipeline::merge_sides({side({{0, 10, 0}}, levels({{0, 4, 0.1F}, {4.4, 10, 0.1F}}), 1),
                             side({{0, 10, 0}}, levels({{0, 10, 0.1F}}), 1)});
  EXPECT_EQ(text(result, result.turns), "0.0-10.0 LEFT_00; 0.0-10.0 RIGHT_00; ");
}

TEST(SplitChannels, SpeakersAreNumberedByTheirFirstTurnThatStays) {
  // On the left, speaker 0 is the other side's voice.
  const Diarization result = pipeline::merge_sides(
      {side({{0, 3, 0}, {4, 6, 1}, {7, 9, 2}}, levels({{0, 3, 0.01F}, {4, 9, 0.1F}}), 3),
       side({{0, 3, 0}}, levels({{0, 3, 0.1F}}), 1)});
  EXPECT_EQ(text(result, result.turns), "0.0-3.0 RIGHT_00; 4.0-6.0 LEFT_00; 7.0-9.0 LEFT_01; ");
  EXPECT_EQ(result.speakers[0].name, "LEFT_00");
  EXPECT_EQ(result.speakers[0].embedding, std::vector<float>{1.0F});
  EXPECT_EQ(result.speakers[2].name, "RIGHT_00");
}

TEST(SplitChannels, SilenceOnBothSidesIsAnEmptyResult) {
  Side left = side({}, levels({}, 0.0F), 0);
  Side right = side({}, levels({}, 0.0F), 0);
  left.result.warnings = {"same", "mine"};
  right.result.warnings = {"same", "yours"};
  left.result.timings.decode = 1;
  right.result.timings.decode = 2;
  const Diarization result = pipeline::merge_sides({left, right});
  EXPECT_TRUE(result.turns.empty());
  EXPECT_TRUE(result.speakers.empty());
  EXPECT_EQ(result.duration, 30);
  EXPECT_EQ(result.timings.decode, 3);
  EXPECT_EQ(result.timings.device_idle, -1);
  EXPECT_EQ(result.warnings,
            (std::vector<std::string>{"same", "left side: mine", "right side: yours"}));
}

}  // namespace
}  // namespace diarist::test
