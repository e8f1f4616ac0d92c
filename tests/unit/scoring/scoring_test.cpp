// Scores worked out by hand, and the rules about files and options.

#include "diarist/scoring.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "diarist/error.hpp"

namespace diarist {
namespace {

using Turns = std::vector<RttmTurn>;

void expect_parts(const Score& score, double total, double missed, double false_alarm,
                  double confusion) {
  EXPECT_NEAR(score.total, total, 1e-12);
  EXPECT_NEAR(score.missed, missed, 1e-12);
  EXPECT_NEAR(score.false_alarm, false_alarm, 1e-12);
  EXPECT_NEAR(score.confusion, confusion, 1e-12);
  EXPECT_NEAR(score.correct, total - missed - confusion, 1e-12);
}

TEST(Scoring, CountsEveryPartOfTheError) {
  // A 0-10, B 10-20; x covers 0-12, y 15-22: 10 s A right, 2 s B called x, 3 s missed, 5 s right,
  // 2 s of nobody.
  const Turns reference = {{0, 10, "A"}, {10, 10, "B"}};
  const Turns hypothesis = {{0, 12, "x"}, {15, 7, "y"}};
  const Score score = score_turns(reference, hypothesis);
  expect_parts(score, 20, 3, 2, 2);
  EXPECT_NEAR(score.der(), 7.0 / 20, 1e-12);
  // A: 2 s apart of 12; B: 5 + 2 of 12.
  EXPECT_NEAR(score.jer(), (2.0 / 12 + 7.0 / 12) / 2, 1e-12);
  EXPECT_EQ(score.reference_speakers, 2);
  EXPECT_EQ(score.hypothesis_speakers, 2);
}

TEST(Scoring, OverlapCountsPerVoiceOrIsLeftOut) {
  const Turns reference = {{0, 10, "A"}, {8, 4, "B"}};
  const Turns hypothesis = {{0, 12, "x"}};
  expect_parts(score_turns(reference, hypothesis), 14, 2, 0, 2);
  ScoringOptions options;
  options.skip_overlap = true;  // 8-10 is gone; 10-12 is B, heard as x
  expect_parts(score_turns(reference, hypothesis, options), 10, 0, 0, 2);
}

TEST(Scoring, CollarIsOnEachSideOfAReferenceBoundary) {
  ScoringOptions options;
  options.collar = 0.5;
  // Scored: 2.5-7.5 and what lies outside 1.5-8.5.
  expect_parts(score_turns({{2, 6, "A"}}, {{1, 8, "x"}}, options), 5, 0, 0.5 + 0.5, 0);
}

TEST(Scoring, TouchingTurnsHaveACollarAndOverlappingOnesOfASpeakerAreOne) {
  ScoringOptions options;
  options.collar = 0.25;
  EXPECT_NEAR(score_turns({{0, 5, "A"}, {5, 5, "A"}}, {}, options).total, 9, 1e-12);
  EXPECT_NEAR(score_turns({{0, 6, "A"}, {5, 5, "A"}}, {}, options).total, 9.5, 1e-12);
}

TEST(Scoring, OneSpeakerTwiceAtOnceIsReported) {
  const RttmFile reference = {{"a", {{0, 5, "A"}, {3, 5, "A"}, {8, 1, "B"}}}};
  const RttmFile once = {{"a", {{0, 8, "A"}, {8, 1, "B"}}}};
  const RttmFile hypothesis = {{"a", {{0, 9, "x"}}}};
  const ScoreReport report = score_files(reference, hypothesis);
  const ScoreReport wanted = score_files(once, hypothesis);
  EXPECT_DOUBLE_EQ(report.total.der(), wanted.total.der());
  EXPECT_DOUBLE_EQ(report.total.jer(), wanted.total.jer());
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0],
            "a: overlapping turns of one speaker in the reference were merged: A");
  EXPECT_TRUE(wanted.warnings.empty());

  // The other way round the second voice is a false alarm, as in pyannote.metrics.
  const ScoreReport turned = score_files(once, reference);
  expect_parts(turned.total, 9, 0, 2, 0);
  ASSERT_EQ(turned.warnings.size(), 1U);
  EXPECT_NE(turned.warnings[0].find("hypothesis"), std::string::npos);
}

TEST(Scoring, NothingScoredIsNoError) {
  ScoringOptions wide;
  wide.collar = 1;
  const Turns reference = {{0, 1.8, "A"}, {0.4, 1.1, "B"}};
  const Score swallowed = score_turns(reference, {}, wide);
  EXPECT_TRUE(swallowed.nothing_scored());
  EXPECT_EQ(swallowed.der(), 0);
  EXPECT_EQ(swallowed.jer(), 1);  // as pyannote.metrics says without a speaker
  EXPECT_EQ(swallowed.reference_speakers, 2);

  const Score silent = score_turns({}, {});
  EXPECT_TRUE(silent.nothing_scored());
  EXPECT_EQ(silent.der(), 0);
  const Score noise = score_turns({}, {{1, 2, "x"}});
  EXPECT_FALSE(noise.nothing_scored());
  EXPECT_EQ(noise.der(), 1);
  EXPECT_EQ(noise.false_alarm, 2);
  EXPECT_EQ(score_turns({{1, 2, "A"}}, {}).der(), 1);
}

TEST(Scoring, RefusesACollarThatIsNoLength) {
  for (const double collar : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()}) {
    ScoringOptions options;
    options.collar = collar;
    try {
      score_turns({}, {}, options);
      FAIL() << collar;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find("collar"), std::string::npos);
    }
  }
}

TEST(Scoring, RefusesMoreSpeakersThanCanBePaired) {
  Turns reference;
  for (int i = 0; i < 5000; ++i) reference.push_back({i * 1.0, 1, std::to_string(i)});
  EXPECT_THROW(score_turns(reference, {}), Error);
}

TEST(ScoringFiles, SumsOverFilesAndReportsWhatHasNoPartner) {
  const RttmFile reference = {{"a", {{0, 10, "A"}}}, {"b", {{0, 10, "A"}}}};
  const RttmFile hypothesis = {{"a", {{0, 9, "x"}}}, {"c", {{0, 10, "y"}}}};
  const ScoreReport report = score_files(reference, hypothesis);
  ASSERT_EQ(report.files.size(), 2U);
  EXPECT_EQ(report.files[0].uri, "a");
  EXPECT_EQ(report.files[1].uri, "b");
  expect_parts(report.total, 20, 11, 0, 0);
  EXPECT_NEAR(report.total.jer(), (0.1 + 1) / 2, 1e-12);
  ASSERT_EQ(report.warnings.size(), 2U);
  EXPECT_EQ(report.warnings[0], "b: not in the hypothesis, which counts as silence");
  EXPECT_EQ(report.warnings[1], "c: not in the reference, left out");
}

TEST(ScoringFiles, OneIdEachIsComparedWhateverTheNames) {
  const ScoreReport report = score_files({{"a", {{0, 10, "A"}}}}, {{"b", {{0, 10, "x"}}}});
  ASSERT_EQ(report.files.size(), 1U);
  EXPECT_EQ(report.files[0].uri, "a");
  EXPECT_EQ(report.total.der(), 0);
  EXPECT_EQ(report.warnings.size(), 1U);
}

TEST(ScoringFiles, AReferenceWithoutTurnsMakesEverythingFalseAlarm) {
  const ScoreReport report = score_files({}, {{"a", {{0, 10, "x"}}}, {"b", {{0, 1, "x"}}}});
  EXPECT_EQ(report.files.size(), 2U);
  EXPECT_EQ(report.total.false_alarm, 11);
  EXPECT_EQ(report.total.der(), 1);
  EXPECT_TRUE(score_files({}, {}).files.empty());
}

TEST(ScoringReport, JsonCarriesFullPrecisionAndParses) {
  const RttmFile reference = {{"two words", {{0, 3, "A"}}}};
  const RttmFile hypothesis = {{"two words", {{1, 2, "x"}}}};
  ScoringOptions options;
  options.collar = 0.1;
  const ScoreReport report = score_files(reference, hypothesis, options);
  const nlohmann::json parsed = nlohmann::json::parse(to_json(report, options));
  EXPECT_EQ(parsed["collar"].get<double>(), 0.1);
  EXPECT_EQ(parsed["files"][0]["uri"], "two words");
  EXPECT_EQ(parsed["files"][0]["der"].get<double>(), report.total.der());
  EXPECT_EQ(parsed["total"]["missed"].get<double>(), report.total.missed);
  EXPECT_EQ(parsed["total"]["nothing_scored"], false);
}

TEST(ScoringReport, TableSaysWhenNothingWasScored) {
  const ScoreReport report = score_files({{"a", {{0, 1, "A"}}}}, {}, {.collar = 2});
  const std::string table = to_table(report, {.collar = 2});
  EXPECT_NE(table.find("nothing"), std::string::npos) << table;
  EXPECT_EQ(table.find("100.00"), std::string::npos) << table;
  EXPECT_NE(table.find("collar 2.0 s on each side"), std::string::npos) << table;
}

}  // namespace
}  // namespace diarist
