// The rule: which speaker a word gets. Every case is worked out by hand.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "transcripts.hpp"

namespace diarist::test {
namespace {

using Names = std::vector<std::string>;

TranscriptWord word(std::optional<double> start, std::optional<double> end,
                    std::string text = " w") {
  return {start, end, std::move(text), {}};
}

Transcript one_segment(std::vector<TranscriptWord> words, double start = 0, double end = 100) {
  Transcript transcript;
  TranscriptSegment segment;
  segment.start = start;
  segment.end = end;
  for (const TranscriptWord& w : words) segment.text += w.text;
  segment.words = std::move(words);
  transcript.segments.push_back(std::move(segment));
  return transcript;
}

// Speakers of words in one segment.
Names labels(std::vector<TranscriptWord> words, const std::vector<RttmTurn>& turns,
             LabelOptions options = {}) {
  options.split = false;
  return word_speakers(
      label_transcript(one_segment(std::move(words)), turns, options).segments.at(0));
}

TEST(Label, MostOverlapWins) {
  const std::vector<RttmTurn> turns = {{0, 1.3, "Anna"}, {1.3, 2, "Bob"}};
  EXPECT_EQ(labels({word(1, 1.5), word(1.2, 1.6)}, turns), (Names{"Anna", "Bob"}));
}

TEST(Label, TurnsOfOneSpeakerCountOnceWhereTheyOverlap) {
  // Anna has 0.4 s of the word in two turns that both say so; Bob has 0.6 s.
  const std::vector<RttmTurn> turns = {{0, 1.4, "Anna"}, {0.5, 0.9, "Anna"}, {1.4, 1, "Bob"}};
  EXPECT_EQ(labels({word(1, 2)}, turns), Names{"Bob"});
}

TEST(Label, PartsOfOneSpeakerAddUp) {
  const std::vector<RttmTurn> turns = {{0, 1.3, "Anna"}, {1.3, 0.5, "Bob"}, {1.8, 0.3, "Anna"}};
  EXPECT_EQ(labels({word(1, 2.1)}, turns), Names{"Anna"});
}

TEST(Label, TiesStayWithTheSpeakerBefore) {
  const std::vector<RttmTurn> turns = {{0, 10, "Bob"}, {2, 2, "Anna"}, {20, 1, "Anna"}};
  EXPECT_EQ(labels({word(1, 1.5), word(2, 2.5)}, turns), (Names{"Bob", "Bob"}));
  // Anna spoke last, so the doubly spoken word is hers.
  EXPECT_EQ(labels({word(20, 20.5), word(2, 2.5)}, turns), (Names{"Anna", "Anna"}));
}

TEST(Label, TiesWithoutSpeakerBeforeGoToTheEarlierTurnThenTheName) {
  EXPECT_EQ(labels({word(2, 2.5)}, {{0, 10, "Zoe"}, {2, 2, "Anna"}}), Names{"Zoe"});
  EXPECT_EQ(labels({word(2, 2.5)}, {{1, 5, "Zoe"}, {1, 5, "Anna"}}), Names{"Anna"});
}

TEST(Label, GapsGoToTheNearestTurnWithinTheDistance) {
  const std::vector<RttmTurn> turns = {{0, 1, "Anna"}, {3, 1, "Bob"}};
  EXPECT_EQ(labels({word(1.4, 1.6), word(1.51, 1.6), word(2.2, 2.5), word(2.6, 2.9)}, turns),
            (Names{"Anna", "UNKNOWN", "Bob", "Bob"}));
  EXPECT_EQ(labels({word(1.8, 2.1)}, turns, {.max_distance = 0.7}), Names{"UNKNOWN"});
  EXPECT_EQ(labels({word(1.8, 2.1)}, turns, {.max_distance = 0.8}), Names{"Anna"});
  EXPECT_EQ(
      labels({word(90, 91)}, turns, {.max_distance = std::numeric_limits<double>::infinity()}),
      Names{"Bob"});
}

TEST(Label, MomentsBelongToTheTurnAroundThem) {
  const std::vector<RttmTurn> turns = {{0, 1, "Anna"}, {1, 1, "Bob"}, {5, 1, "Cy"}};
  // At 1.0 both are at distance 0 and nobody spoke before: the earlier turn.
  EXPECT_EQ(labels({word(1, 1), word(1.5, 1.5), word(5.5, 5.5)}, turns),
            (Names{"Anna", "Bob", "Cy"}));
  // One time alone, and an end before the start, are moments too.
  EXPECT_EQ(labels({word(0.5, {}), word({}, 1.5), word(5.5, 0.2)}, turns),
            (Names{"Anna", "Bob", "Cy"}));
}

TEST(Label, ALongTurnFarBackIsFoundBehindManyShortOnes) {
  std::vector<RttmTurn> turns = {{0, 1000, "Anna"}};
  for (int i = 0; i < 100; ++i) turns.push_back({i * 2.0, 0.1, "Bob"});
  EXPECT_EQ(labels({word(900, 901), word(1000.2, 1000.4)}, turns), (Names{"Anna", "Anna"}));
}

TEST(Label, WordsWithoutTimesTakeTheirNeighboursSpeaker) {
  const std::vector<RttmTurn> turns = {{0, 1, "Anna"}, {2, 3, "Bob"}};
  const TranscriptWord untimed = word({}, {});
  EXPECT_EQ(labels({untimed, word(0, 1), untimed, word(0.5, 1), untimed}, turns),
            (Names{"Anna", "Anna", "Anna", "Anna", "Anna"}));
  // Between Anna at 1.0 and Bob at 4.0 each of three words has one second: nobody's, Bob's, Bob's.
  EXPECT_EQ(labels({word(0, 1), untimed, untimed, untimed, word(4, 5)}, turns),
            (Names{"Anna", "Anna", "Bob", "Bob", "Bob"}));
  // No word has a time: the segment's time, here 0 to 100, of which Bob has most.
  EXPECT_EQ(labels({untimed, untimed}, turns), (Names{"Bob", "Bob"}));
}

TEST(Label, OffsetMovesTheTranscript) {
  const std::vector<RttmTurn> turns = {{0, 1, "Anna"}, {10, 1, "Bob"}};
  EXPECT_EQ(labels({word(0, 1)}, turns, {.offset = 10}), Names{"Bob"});
  EXPECT_EQ(labels({word(10, 11)}, turns, {.offset = -10}), Names{"Anna"});
}

TEST(Label, SmoothingTakesSingleWordsOnly) {
  const std::vector<RttmTurn> turns = {
      {0, 1, "Anna"}, {1, 1, "Bob"}, {2, 1, "Anna"}, {3, 2, "Bob"}};
  const std::vector<TranscriptWord> words = {word(0, 1), word(1, 2), word(2, 3), word(3, 4),
                                             word(4, 5)};
  EXPECT_EQ(labels(words, turns), (Names{"Anna", "Bob", "Anna", "Bob", "Bob"}));
  EXPECT_EQ(labels(words, turns, {.smooth = true}), (Names{"Anna", "Anna", "Anna", "Bob", "Bob"}));
}

TEST(Label, SegmentsAreSplitWhereTheSpeakerChanges) {
  const std::vector<RttmTurn> turns = {{0, 2, "Anna"}, {2, 2, "Bob"}};
  Transcript transcript = one_segment(
      {word(0.5, 1, " Hello"), word(1, 1.8, " there."), word(2.1, 2.4, " Hi"), word({}, {}, " 5.")},
      0.25, 6);
  transcript = label_transcript(transcript, turns);
  ASSERT_EQ(transcript.segments.size(), 2U);
  const TranscriptSegment& anna = transcript.segments[0];
  const TranscriptSegment& bob = transcript.segments[1];
  EXPECT_EQ(anna.text, " Hello there.");
  EXPECT_EQ(bob.text, " Hi 5.");
  EXPECT_EQ(speakers(transcript), (Names{"Anna", "Bob"}));
  // The outer times stay, the inner ones are those of the words.
  EXPECT_EQ(anna.start, 0.25);
  EXPECT_EQ(anna.end, 1.8);
  EXPECT_EQ(bob.start, 2.1);
  EXPECT_EQ(bob.end, 6);
  EXPECT_EQ(bob.origin, 0U);
  EXPECT_EQ(bob.first_word, 2U);
}

TEST(Label, WholeSegmentsGoToTheLongestVoice) {
  const std::vector<RttmTurn> turns = {{0, 1, "Anna"}, {1, 3, "Bob"}};
  const Transcript labelled =
      label_transcript(one_segment({word(0, 0.4), word(0.4, 0.9), word(1, 3), word(60, 90)}), turns,
                       {.split = false});
  ASSERT_EQ(labelled.segments.size(), 1U);
  EXPECT_EQ(labelled.segments[0].speaker, "Bob");
}

TEST(Label, SegmentsWithoutWordsGoByOverlap) {
  Transcript transcript;
  for (const double start : {0.0, 2.0, 50.0}) {
    TranscriptSegment segment;
    segment.start = start;
    segment.end = start + 2;
    transcript.segments.push_back(segment);
  }
  transcript.segments.emplace_back();  // without any time
  transcript =
      label_transcript(transcript, {{0, 2.5, "Anna"}, {2.5, 2, "Bob"}}, {.unknown = "nobody"});
  EXPECT_EQ(speakers(transcript), (Names{"Anna", "Bob", "nobody", "nobody"}));
}

TEST(Label, NoTurnsMakeEverythingUnknown) {
  EXPECT_EQ(labels({word(0, 1)}, {}), Names{"UNKNOWN"});
  EXPECT_EQ(labels({word(0, 1)}, {{0.5, 0, "Anna"}}), Names{"UNKNOWN"});
}

TEST(Label, EveryTimeIsANumberSomeoneCanHave) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(labels({word(-5, 1), word(1e9, 1e9)}, {{0, most, "Anna"}}), (Names{"Anna", "Anna"}));
}

TEST(Label, WrongOptionsAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const LabelOptions& options :
       {LabelOptions{.offset = nan}, LabelOptions{.offset = 1e300},
        LabelOptions{.max_distance = -1}, LabelOptions{.max_distance = nan},
        LabelOptions{.unknown = ""}}) {
    EXPECT_THROW(label_transcript({}, {}, options), Error);
  }
}

// A word per 0.3 s for ten hours, all in one segment, against 36 000 turns and one that spans half
// of it; in the other half the segment is split at every turn. Work that grows with the square
// would take minutes.
TEST(Label, TenHoursTakeLinearTime) {
  std::vector<RttmTurn> turns = {{0, 18000, "noise"}};
  for (int i = 0; i < 36000; ++i) turns.push_back({i * 1.0, 0.9, i % 2 == 0 ? "Anna" : "Bob"});
  std::string words;
  for (int i = 0; i < 120000; ++i) {
    words += words.empty() ? "" : ", ";
    words += "{\"word\": \" w\", \"start\": " + std::to_string(i * 0.3) +
             ", \"end\": " + std::to_string(i * 0.3 + 0.2) + "}";
  }
  std::string text = "[{\"start\": 0, \"end\": 36000, \"text\": \"\", \"words\": [";
  text.append(words).append("]}]");
  const auto start = std::chrono::steady_clock::now();
  const Transcript transcript = label_transcript(parse_transcript(text, "t"), turns);
  const std::string json = write_transcript(transcript, TranscriptFormat::kJson);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_GT(transcript.segments.size(), 15000U);
  EXPECT_GT(json.size(), text.size());
  EXPECT_LT(seconds.count(), 60);
}

}  // namespace
}  // namespace diarist::test
