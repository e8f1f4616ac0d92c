// Scores against values of pyannote.metrics 4.2.0 (tools/make_scoring_golden.py).

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "diarist/scoring.hpp"

namespace diarist {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-9;

void expect_score(const Score& score, const json& wanted, const std::string& where) {
  EXPECT_NEAR(score.der(), wanted["der"].get<double>(), kTolerance) << where;
  EXPECT_NEAR(score.jer(), wanted["jer"].get<double>(), kTolerance) << where;
  EXPECT_NEAR(score.missed, wanted["missed"].get<double>(), kTolerance) << where;
  EXPECT_NEAR(score.false_alarm, wanted["false_alarm"].get<double>(), kTolerance) << where;
  EXPECT_NEAR(score.confusion, wanted["confusion"].get<double>(), kTolerance) << where;
  EXPECT_NEAR(score.correct, wanted["correct"].get<double>(), kTolerance) << where;
  EXPECT_NEAR(score.total, wanted["total"].get<double>(), kTolerance) << where;
  EXPECT_EQ(score.jer_speakers, wanted["scored_speakers"].get<int>()) << where;
  EXPECT_EQ(score.reference_speakers, wanted["reference_speakers"].get<int>()) << where;
  EXPECT_EQ(score.hypothesis_speakers, wanted["hypothesis_speakers"].get<int>()) << where;
}

TEST(ScoringGolden, EqualsPyannoteMetrics) {
  std::ifstream file(DIARIST_SCORING_GOLDEN);
  const json golden = json::parse(file);
  ASSERT_GE(golden["cases"].size(), 100U);
  std::size_t number = 0;
  for (const json& one : golden["cases"]) {
    const std::string where =
        "case " + std::to_string(number++) + " (" + one["name"].get<std::string>() + ")";
    ScoringOptions options;
    options.collar = one["collar"].get<double>();
    options.skip_overlap = one["skip_overlap"].get<bool>();
    if (one.contains("uem")) options.uem = parse_uem(one["uem"].get<std::string>(), "uem");
    const ScoreReport report =
        score_files(parse_rttm(one["reference"].get<std::string>(), "reference"),
                    parse_rttm(one["hypothesis"].get<std::string>(), "hypothesis"), options);
    const json& wanted = one["expected"];
    ASSERT_EQ(report.files.size(), wanted["files"].size()) << where;
    for (const FileScore& scored : report.files) {
      ASSERT_TRUE(wanted["files"].contains(scored.uri)) << where << " " << scored.uri;
      expect_score(scored.score, wanted["files"][scored.uri], where + " " + scored.uri);
    }
    expect_score(report.total, wanted["total"], where + " total");
  }
}

}  // namespace
}  // namespace diarist
