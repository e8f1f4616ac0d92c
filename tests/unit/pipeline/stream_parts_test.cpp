// What a stream keeps from one snapshot to the next: names, and vectors of the turn check.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pipeline/piece_memory.hpp"
#include "pipeline/recording.hpp"
#include "pipeline/stable_names.hpp"

namespace diarist::pipeline {
namespace {

struct Said {
  double start, end;
  int speaker;
};

Diarization spoken(const std::vector<Said>& turns, int speakers) {
  Diarization result;
  for (const Said& said : turns)
    result.turns.push_back({.start = said.start, .end = said.end, .speaker = said.speaker});
  result.exclusive_turns = result.turns;
  for (int i = 0; i < speakers; ++i)
    result.speakers.push_back(
        {.name = "SPEAKER_0" + std::to_string(i), .embedding = {static_cast<float>(i)}});
  return result;
}

// "start:name " of every turn.
std::string text_of(const Diarization& result) {
  std::string text;
  for (const Turn& turn : result.turns)
    text += std::to_string(static_cast<int>(turn.start)) + ":" +
            result.speakers[static_cast<std::size_t>(turn.speaker)].name.substr(8) + " ";
  return text;
}

std::string apply(StableNames& names, Diarization result) {
  names.apply(result);
  for (std::size_t i = 1; i < result.speakers.size(); ++i)
    EXPECT_LT(result.speakers[i - 1].name, result.speakers[i].name);
  EXPECT_EQ(result.turns.size(), result.exclusive_turns.size());
  return text_of(result);
}

TEST(StableNames, TheFirstSnapshotIsAsItIs) {
  StableNames names;
  EXPECT_EQ(apply(names, spoken({{0, 5, 0}, {5, 9, 1}}, 2)), "0:00 5:01 ");
}

TEST(StableNames, FollowTheSecondsInCommon) {
  StableNames names;
  apply(names, spoken({{0, 5, 0}, {5, 9, 1}}, 2));
  // A speaker is found in front of the others, who move up by one.
  EXPECT_EQ(apply(names, spoken({{0, 1, 0}, {1, 5, 1}, {5, 9, 2}}, 3)), "0:02 1:00 5:01 ");
  // The two that became one are called like the longer of them; the name of the other is not
  // given to somebody else at the same time.
  EXPECT_EQ(apply(names, spoken({{0, 5, 0}, {5, 9, 1}, {9, 12, 2}}, 3)), "0:00 5:01 9:03 ");
  EXPECT_EQ(apply(names, spoken({{5, 9, 0}, {9, 12, 1}}, 2)), "5:01 9:03 ");
  // The lowest numbers that were not in use in the snapshot before.
  EXPECT_EQ(apply(names, spoken({{0, 5, 0}, {5, 9, 1}, {9, 12, 2}, {13, 14, 3}}, 4)),
            "0:00 5:01 9:03 13:02 ");
}

// The best for one alone would leave the other nothing.
TEST(StableNames, TheSumDecides) {
  StableNames names;
  apply(names, spoken({{0, 6, 0}, {6, 10, 1}}, 2));
  // In common: {6, 4} and {5, 0} if taken one by one; together 4 + 5 is more than 6 + 0.
  EXPECT_EQ(apply(names, spoken({{0, 10, 0}, {0, 5, 1}}, 2)), "0:00 0:01 ");
}

TEST(StableNames, SilenceForgetsNobodyWhoIsThere) {
  StableNames names;
  EXPECT_EQ(apply(names, spoken({}, 0)), "");
  EXPECT_EQ(apply(names, spoken({{0, 5, 0}}, 1)), "0:00 ");
}

TEST(StableNames, EmbeddingsAndSpeechGoWithTheirSpeaker) {
  StableNames names;
  apply(names, spoken({{0, 5, 0}, {5, 9, 1}}, 2));
  Diarization result = spoken({{0, 1, 0}, {1, 5, 1}, {5, 9, 2}}, 3);
  names.apply(result);
  EXPECT_EQ(result.speakers[0].embedding, std::vector<float>{1});
  EXPECT_EQ(result.speakers[1].embedding, std::vector<float>{2});
  EXPECT_EQ(result.speakers[2].embedding, std::vector<float>{0});
}

TEST(PieceMemory, OnlyWhatIsNotKnownIsEmbedded) {
  PieceMemory memory;
  std::vector<PieceMemory::Piece> asked;
  const EmbedPieces embed = [&](std::span<const PieceMemory::Piece> pieces) {
    asked.assign(pieces.begin(), pieces.end());
    std::vector<float> vectors;
    for (const auto& [first, rows] : pieces) {
      vectors.push_back(static_cast<float>(first));
      vectors.push_back(static_cast<float>(rows));
    }
    return vectors;
  };
  using Pieces = std::vector<PieceMemory::Piece>;
  const auto run = [&](const Pieces& pieces, std::int64_t settled) {
    return memory.run(pieces, settled, 2, embed);
  };
  EXPECT_EQ(run({{0, 10}, {20, 30}}, 40), (std::vector<float>{0, 10, 20, 30}));
  EXPECT_EQ(asked, (Pieces{{0, 10}, {20, 30}}));
  // The second one reached into rows that may have changed.
  EXPECT_EQ(run({{0, 10}, {20, 30}, {50, 5}}, 60), (std::vector<float>{0, 10, 20, 30, 50, 5}));
  EXPECT_EQ(asked, (Pieces{{20, 30}, {50, 5}}));
  EXPECT_EQ(run({{50, 5}, {0, 11}}, 60), (std::vector<float>{50, 5, 0, 11}));
  EXPECT_EQ(asked, (Pieces{{0, 11}}));
  run({{20, 30}}, 60);
  EXPECT_EQ(asked, (Pieces{{20, 30}}));  // was not among the last ones
}

TEST(LogMelPages, CopiesDontSeeWhatIsAppendedLater) {
  LogMelPages pages;
  for (float& value : pages.append(2)) value = 1;
  LogMelPages copy = pages;
  for (float& value : pages.append(3)) value = 2;
  for (float& value : copy.append(1)) value = 3;
  EXPECT_EQ(pages.rows(), 5);
  EXPECT_EQ(copy.rows(), 3);
  copy.append_from(pages, 1);  // across pages
  copy.append_from(pages, 5);
  EXPECT_EQ(copy.rows(), 7);
  std::string text;
  copy.for_each_part(0, 7, [&](std::span<const float> part) {
    for (std::size_t i = 0; i < part.size(); i += kBands)
      text += std::to_string(static_cast<int>(part[i]));
  });
  EXPECT_EQ(text, "1131222");
}

}  // namespace
}  // namespace diarist::pipeline
