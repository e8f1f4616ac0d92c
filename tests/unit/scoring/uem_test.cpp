// Scores inside regions, by md-eval's rules, and who was paired with whom: worked out by hand.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "diarist/error.hpp"
#include "diarist/scoring.hpp"

namespace diarist {
namespace {

using Turns = std::vector<RttmTurn>;

ScoringOptions inside(const Regions& regions) {
  ScoringOptions options;
  options.uem = regions;
  return options;
}

TEST(ScoringUem, CountsWhatLiesInsideOnly) {
  // 5-8 and 12-20 of A 0-10, B 10-20, heard as x 0-20. Over everything x is as much A as B; in the
  // regions x is B (8 s), and A's 3 s are confused.
  const Score score =
      score_turns({{0, 10, "A"}, {10, 10, "B"}}, {{0, 20, "x"}}, {{12, 20}, {5, 7}, {6, 8}});
  EXPECT_DOUBLE_EQ(score.total, 11);
  EXPECT_DOUBLE_EQ(score.confusion, 3);
  EXPECT_DOUBLE_EQ(score.correct, 8);
  EXPECT_DOUBLE_EQ(score.der(), 3.0 / 11);
  // A has no partner: 1. B: 3 s apart of 11.
  EXPECT_DOUBLE_EQ(score.jer(), (1 + 3.0 / 11) / 2);
  EXPECT_EQ(score.reference_speakers, 2);
}

TEST(ScoringUem, SpeakersOutsideAreNotCounted) {
  const Score score = score_turns({{0, 5, "A"}, {10, 5, "B"}}, {{11, 1, "x"}}, {{0, 6}});
  EXPECT_EQ(score.reference_speakers, 1);
  EXPECT_EQ(score.hypothesis_speakers, 0);
}

TEST(ScoringUem, ABorderThatCutsATurnHasNoCollar) {
  ScoringOptions options;
  options.collar = 0.5;
  // 4-6 of A 0-10: no boundary of the reference is near.
  EXPECT_DOUBLE_EQ(score_turns({{0, 10, "A"}}, {}, {{4, 6}}, options).total, 2);
}

TEST(ScoringUem, NoRegionsMeanNothingScored) {
  for (const std::vector<Region>& regions :
       {std::vector<Region>{}, std::vector<Region>{{3, 3}}, std::vector<Region>{{50, 60}}}) {
    const Score score = score_turns({{0, 10, "A"}}, {{0, 10, "x"}}, regions);
    EXPECT_TRUE(score.nothing_scored());
    EXPECT_EQ(score.der(), 0);
    EXPECT_EQ(score.jer(), 1);
  }
}

TEST(ScoringUem, ItsRecordingsAreScoredAndNoOthers) {
  const RttmFile reference = {{"a", {{0, 10, "A"}}}, {"b", {{0, 10, "A"}}}, {"c", {{0, 1, "A"}}}};
  const RttmFile hypothesis = {{"a", {{0, 10, "x"}}}, {"d", {{0, 4, "x"}}}, {"e", {{0, 1, "x"}}}};
  const ScoreReport report =
      score_files(reference, hypothesis,
                  inside({{"a", {{0, 5}}}, {"c", {{0, 9}}}, {"d", {{0, 3}}}, {"z", {}}}));
  ASSERT_EQ(report.files.size(), 3U);
  EXPECT_EQ(report.files[0].uri, "a");
  EXPECT_EQ(report.files[0].score.total, 5);
  EXPECT_EQ(report.files[1].uri, "c");
  EXPECT_EQ(report.files[1].score.missed, 1);
  EXPECT_EQ(report.files[2].uri, "d");
  EXPECT_EQ(report.files[2].score.false_alarm, 3);  // in the UEM, silent in the reference
  EXPECT_EQ(report.outside_uem, std::vector<std::string>{"b"});
  EXPECT_EQ(report.missing, std::vector<std::string>{"c"});
  EXPECT_EQ(report.extra, std::vector<std::string>{"e"});
  EXPECT_EQ(report.warnings.back(),
            "1 of the 4 recordings of the UEM are in neither file, left out");
}

TEST(ScoringUem, OneRecordingEachMayHaveAnotherNameInTheUem) {
  const RttmFile reference = {{"a", {{0, 10, "A"}}}};
  const RttmFile hypothesis = {{"b", {{0, 10, "x"}}}};
  for (const char* uri : {"a", "b"}) {
    const ScoreReport report = score_files(reference, hypothesis, inside({{uri, {{1, 3}}}}));
    ASSERT_EQ(report.files.size(), 1U);
    EXPECT_EQ(report.files[0].score.correct, 2);
  }
  const ScoreReport neither = score_files(reference, hypothesis, inside({{"c", {{1, 3}}}}));
  EXPECT_TRUE(neither.files.empty());
  EXPECT_TRUE(neither.total.nothing_scored());
  EXPECT_EQ(neither.outside_uem, std::vector<std::string>{"a"});
}

TEST(ScoringMdEval, PairsBeforeTheCollarIsCutAway) {
  // A 0-1, 2-3, 4-5 (3 s, all within 0.5 s of a boundary) and 10-14; B 14-20. x has A's short
  // turns and B's last 2.5 s; y has A's long turn's middle. Over everything x and A share 3 s, so
  // md-eval pairs them; what is scored is 10.5-13.5 (A) and 14.5-19.5 (B).
  const Turns reference = {{0, 1, "A"}, {2, 1, "A"}, {4, 1, "A"}, {10, 4, "A"}, {14, 6, "B"}};
  const Turns hypothesis = {{0, 1, "x"}, {2, 1, "x"}, {4, 1, "x"}, {17, 2.5, "x"}, {11, 2, "y"}};
  ScoringOptions options;
  options.collar = 0.5;
  const Score pyannote = score_turns(reference, hypothesis, options);
  EXPECT_DOUBLE_EQ(pyannote.total, 8);
  EXPECT_DOUBLE_EQ(pyannote.correct, 4.5);  // x is B, y is A
  EXPECT_DOUBLE_EQ(pyannote.confusion, 0);
  options.md_eval = true;
  // Together: x-A 3, x-B 2.5, y-A 2. Best: x-B and y-A give 4.5 against 3 for x-A alone.
  EXPECT_DOUBLE_EQ(score_turns(reference, hypothesis, options).confusion, 0);
  // x in A's collars 10-10.5 and 13.5-14 as well: x-A 4 is still less than 4.5.
  Turns more = hypothesis;
  more.push_back({10, 0.5, "x"});
  more.push_back({13.5, 0.5, "x"});
  more.push_back({5.5, 3, "x"});
  const Score md_eval = score_turns(reference, more, options);
  EXPECT_DOUBLE_EQ(md_eval.confusion, 0);
  more.push_back({10.5, 0.6, "x"});  // x-A 4.6: now it is more
  const Score other = score_turns(reference, more, options);
  EXPECT_DOUBLE_EQ(other.confusion, 2.5 + 1.9);  // x is A now: B as x, A as y where x is silent
}

TEST(ScoringMdEval, EndsWithTheReferenceAndCountsADoubledVoiceOnce) {
  ScoringOptions options;
  options.md_eval = true;
  const Score score = score_turns({{5, 5, "A"}}, {{0, 20, "x"}, {6, 3, "x"}}, options);
  EXPECT_DOUBLE_EQ(score.total, 5);
  EXPECT_DOUBLE_EQ(score.false_alarm, 0);
  EXPECT_DOUBLE_EQ(score.der(), 0);
  EXPECT_DOUBLE_EQ(score_turns({{5, 5, "A"}}, {{0, 20, "x"}, {6, 3, "x"}}).false_alarm, 18);
}

TEST(ScoringMapping, NamesEverySpeakerOnce) {
  const ScoreReport report = score_files({{"a", {{0, 10, "B"}, {10, 5, "A"}, {20, 1, "C"}}}},
                                         {{"a", {{0, 9, "z"}, {9, 6, "y"}, {30, 2, "q"}}}});
  const std::vector<SpeakerPair>& mapping = report.files.at(0).mapping;
  ASSERT_EQ(mapping.size(), 4U);
  EXPECT_EQ(mapping[0].reference, "A");
  EXPECT_EQ(mapping[0].hypothesis, "y");
  EXPECT_DOUBLE_EQ(mapping[0].seconds, 5);
  EXPECT_DOUBLE_EQ(mapping[0].reference_seconds, 5);
  EXPECT_DOUBLE_EQ(mapping[0].hypothesis_seconds, 6);
  EXPECT_EQ(mapping[1].reference, "B");
  EXPECT_EQ(mapping[1].hypothesis, "z");
  EXPECT_EQ(mapping[2].reference, "C");
  EXPECT_FALSE(mapping[2].hypothesis.has_value());
  EXPECT_FALSE(mapping[3].reference.has_value());
  EXPECT_EQ(mapping[3].hypothesis, "q");
  EXPECT_DOUBLE_EQ(mapping[3].hypothesis_seconds, 2);
}

TEST(ScoringSpeakerCounts, MeanAndShare) {
  const RttmFile reference = {
      {"a", {{0, 1, "A"}, {1, 1, "B"}}}, {"b", {{0, 1, "A"}}}, {"c", {{0, 1, "A"}}}};
  const RttmFile hypothesis = {
      {"a", {{0, 1, "x"}}}, {"b", {{0, 1, "x"}}}, {"c", {{0, 1, "x"}, {1, 1, "y"}, {2, 1, "z"}}}};
  const SpeakerCounts counts = speaker_counts(score_files(reference, hypothesis));
  EXPECT_EQ(counts.recordings, 3);
  EXPECT_EQ(counts.exact, 1);
  EXPECT_DOUBLE_EQ(counts.exact_share(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(counts.mean_error, (-1 + 0 + 2) / 3.0);
  EXPECT_DOUBLE_EQ(counts.mean_absolute_error, 1);
  const SpeakerCounts none = speaker_counts({});
  EXPECT_EQ(none.exact_share(), 0);
  EXPECT_EQ(none.mean_absolute_error, 0);
}

TEST(ScoringDocuments, MarkdownAndCsvHoldTheScores) {
  const RttmFile reference = {{"a|b", {{0, 4, "A_1"}}}, {"c, \"d\"", {{0, 4, "A"}}}};
  const RttmFile hypothesis = {{"a|b", {{1, 3, "x"}}}};
  const ScoreReport report = score_files(reference, hypothesis);
  const std::string markdown = to_markdown(report, {}, true);
  EXPECT_NE(markdown.find("| a\\|b | 25.00 | 25.00 | 25.00 | 0.00 | 0.00 | 4.000 | 1/1 |\n"),
            std::string::npos)
      << markdown;
  EXPECT_NE(markdown.find("| a\\|b | A\\_1 | x | 3.000 | 4.000 | 3.000 |\n"), std::string::npos);
  EXPECT_NE(markdown.find("## Missing in the hypothesis\n\n- c, \"d\"\n"), std::string::npos);
  const std::string csv = to_csv(report);
  EXPECT_NE(csv.find("\nfile,a|b,0.25,0.25,1.0,0.0,0.0,3.0,4.0,1,1,1,false\n"), std::string::npos)
      << csv;
  EXPECT_NE(csv.find("\nfile,\"c, \"\"d\"\"\",1.0,1.0,4.0,0.0,0.0,0.0,4.0,1,0,1,false\n"),
            std::string::npos)
      << csv;
  EXPECT_NE(csv.find("\ntotal,,0.625,0.625,5.0,0.0,0.0,3.0,8.0,2,1,2,false\n"), std::string::npos)
      << csv;
}

TEST(ScoringDocuments, NothingToScoreIsAResultInEveryFormat) {
  const ScoreReport report = score_files({}, {});
  EXPECT_NE(to_table(report, {}, true).find("nothing"), std::string::npos);
  EXPECT_NE(to_markdown(report, {}).find("nothing"), std::string::npos);
  EXPECT_NE(to_csv(report).find("total,,0.0,1.0,"), std::string::npos);
  const nlohmann::json parsed = nlohmann::json::parse(to_json(report, {}));
  EXPECT_TRUE(parsed["files"].empty());
  EXPECT_TRUE(parsed["speaker_count"]["exact_share"].is_null());
  EXPECT_TRUE(parsed["intervals"].is_null());
}

}  // namespace
}  // namespace diarist
