// Intervals and tests: exact values by hand, quantiles of textbooks. tools/check_scoring.py
// compares the program with scipy on the same resamples.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "diarist/error.hpp"
#include "diarist/scoring.hpp"
#include "output/distributions.hpp"
#include "output/random_draws.hpp"

namespace diarist {
namespace {

// A report of recordings with these wrong seconds out of `total` each.
ScoreReport report_of(const std::vector<double>& wrong, double total = 10) {
  ScoreReport report;
  for (const double seconds : wrong) {
    FileScore file;
    file.uri = "rec" + std::to_string(report.files.size());
    file.score.total = total;
    file.score.missed = seconds;
    file.score.jer_sum = seconds / total;
    file.score.jer_speakers = 1;
    report.total.total += total;
    report.total.missed += seconds;
    report.files.push_back(file);
  }
  return report;
}

TEST(RandomDraws, AreThoseOfSplitMix64) {
  // First outputs for seed 1234567: Rosetta Code, "Pseudo-random numbers/Splitmix64".
  output::RandomDraws random(1234567);
  for (const std::uint64_t wanted :
       {6457827717110365317U, 3203168211198807973U, 9817491932198370423U, 4593380528125082431U,
        16408922859458223821U}) {
    EXPECT_EQ(random.bits(), wanted);
  }
}

TEST(RandomDraws, EveryNumberComesUpEquallyOften) {
  output::RandomDraws random(3);
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 70000; ++i) ++counts.at(random.below(7));
  // Standard deviation of a count: sqrt(70000 * 1/7 * 6/7) = 93.
  for (const int count : counts) EXPECT_NEAR(count, 10000, 5 * 93);
  EXPECT_EQ(random.below(1), 0U);
}

TEST(Distributions, NormalQuantilesOfTables) {
  EXPECT_NEAR(output::normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(output::normal_quantile(0.025), -1.959963984540054, 1e-14);
  EXPECT_NEAR(output::normal_quantile(0.5), 0, 1e-15);
  EXPECT_NEAR(output::normal_quantile(1e-10), -6.361340902404056, 1e-12);
  EXPECT_EQ(output::normal_quantile(0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(output::normal_quantile(1), std::numeric_limits<double>::infinity());
  EXPECT_NEAR(output::normal_cdf(1), 0.8413447460685429, 1e-15);
}

TEST(Distributions, QuantilesAreLinearBetweenNeighbours) {
  const std::vector<double> values = {1, 2, 4, 8};
  EXPECT_EQ(output::quantile(values, 0), 1);
  EXPECT_EQ(output::quantile(values, 1), 8);
  EXPECT_EQ(output::quantile(values, 0.5), 3);
  EXPECT_NEAR(output::quantile(values, 0.9), 4 + 4 * 0.7, 1e-12);  // place 2.7
  EXPECT_EQ(output::quantile({5}, 0.3), 5);
}

TEST(Distributions, SignTestCountsCoins) {
  EXPECT_EQ(output::sign_test(0, 0), 1);
  EXPECT_EQ(output::sign_test(1, 1), 1);
  EXPECT_NEAR(output::sign_test(0, 5), 2.0 / 32, 1e-15);
  EXPECT_NEAR(output::sign_test(8, 2), 2 * (1 + 10 + 45) / 1024.0, 1e-14);
  EXPECT_NEAR(output::sign_test(2, 8), output::sign_test(8, 2), 1e-15);
  // 5000 coins: the normal approximation with continuity correction is good to three digits.
  const double z = (2400 + 0.5 - 2500) / std::sqrt(5000 / 4.0);
  EXPECT_NEAR(output::sign_test(2400, 2600), 2 * output::normal_cdf(z), 1e-4);
}

TEST(Bootstrap, PercentilesOfTwoRecordingsAreTheirScores) {
  // Two recordings: a resample is both first (1/4), both second (1/4) or mixed (1/2).
  BootstrapOptions options;
  options.method = IntervalMethod::kPercentile;
  options.resamples = 4000;
  const ScoreIntervals intervals = bootstrap_scores(report_of({1, 3}), options);
  EXPECT_EQ(intervals.recordings, 2);
  EXPECT_DOUBLE_EQ(intervals.der.estimate, 0.2);
  EXPECT_DOUBLE_EQ(intervals.der.low, 0.1);
  EXPECT_DOUBLE_EQ(intervals.der.high, 0.3);
  EXPECT_NEAR(intervals.der.standard_error, std::sqrt(0.005), 0.002);  // variance 1/2 * 0.01
  EXPECT_DOUBLE_EQ(intervals.jer.low, 0.1);
  options.level = 0.4;  // the middle half has the mixed score only
  EXPECT_DOUBLE_EQ(bootstrap_scores(report_of({1, 3}), options).der.low, 0.2);
}

TEST(Bootstrap, SameSeedSameNumbersAndAnotherSeedOthers) {
  const ScoreReport report = report_of({1, 2, 5, 3, 9, 4, 4, 2, 0.5, 7});
  BootstrapOptions options;
  options.resamples = 200;
  const Interval first = bootstrap_scores(report, options).der;
  EXPECT_EQ(bootstrap_scores(report, options).der.low, first.low);
  EXPECT_EQ(first.method, IntervalMethod::kBca);
  EXPECT_LT(first.low, first.estimate);
  EXPECT_GT(first.high, first.estimate);
  options.seed = 2;
  EXPECT_NE(bootstrap_scores(report, options).der.standard_error, first.standard_error);
}

TEST(Bootstrap, FewerThanTwoRecordingsHaveNoInterval) {
  for (const std::vector<double>& wrong : {std::vector<double>{}, std::vector<double>{3}}) {
    ScoreReport report = report_of(wrong);
    report.intervals = bootstrap_scores(report);
    EXPECT_TRUE(std::isnan(report.intervals->der.low));
    EXPECT_TRUE(std::isnan(report.intervals->der.high));
    const nlohmann::json parsed = nlohmann::json::parse(to_json(report, {}));
    EXPECT_TRUE(parsed["intervals"]["der"]["low"].is_null());
    EXPECT_NE(to_table(report, {}).find("it takes two recordings"), std::string::npos);
  }
}

TEST(Bootstrap, EqualRecordingsFallBackToThePercentile) {
  const Interval interval = bootstrap_scores(report_of({2, 2, 2})).der;
  EXPECT_EQ(interval.method, IntervalMethod::kPercentile);
  EXPECT_DOUBLE_EQ(interval.low, 0.2);
  EXPECT_DOUBLE_EQ(interval.high, 0.2);
}

TEST(Bootstrap, RefusesNumbersOutOfRange) {
  for (const auto& [resamples, level] :
       {std::pair{0, 0.95}, {-1, 0.95}, {100, 0.0}, {100, 1.0}, {100, std::nan("")}}) {
    BootstrapOptions options;
    options.resamples = resamples;
    options.level = level;
    EXPECT_THROW(bootstrap_scores(report_of({1, 2}), options), Error);
    EXPECT_THROW(compare_scores(report_of({1, 2}), report_of({1, 2}), options), Error);
  }
}

TEST(Compare, PermutationTestOfThreeRecordingsByHand) {
  // Differences -1, -2, -4: only all signs alike reach 7, in 2 of 8 swaps.
  const ScoreComparison result = compare_scores(report_of({1, 1, 1}), report_of({2, 3, 5}));
  EXPECT_DOUBLE_EQ(result.first_der, 0.1);
  EXPECT_NEAR(result.difference.estimate, -7.0 / 30, 1e-15);
  EXPECT_TRUE(result.every_permutation);
  EXPECT_EQ(result.permutations, 8U);
  EXPECT_DOUBLE_EQ(result.permutation_p, 0.25);
  EXPECT_EQ(result.first_better, 3);
  EXPECT_DOUBLE_EQ(result.sign_p, 0.25);
  // -1, +2, -4: |sum| 3; sums of signs: 7, 5, 3, 1 twice each, three of four reach 3.
  const ScoreComparison mixed = compare_scores(report_of({1, 5, 1}), report_of({2, 3, 5}));
  EXPECT_DOUBLE_EQ(mixed.permutation_p, 0.75);
  EXPECT_EQ(mixed.first_better, 2);
  EXPECT_EQ(mixed.second_better, 1);
}

TEST(Compare, EqualSystemsCouldNotBeMoreAlike) {
  const ScoreComparison result = compare_scores(report_of({1, 2, 3}), report_of({1, 2, 3}));
  EXPECT_EQ(result.equal, 3);
  EXPECT_EQ(result.permutation_p, 1);
  EXPECT_EQ(result.sign_p, 1);
  EXPECT_EQ(result.difference.estimate, 0);
  EXPECT_EQ(result.difference.low, 0);
}

TEST(Compare, ManyRecordingsAreSampledAndNeverSayZero) {
  BootstrapOptions options;
  options.resamples = 500;
  const ScoreComparison result = compare_scores(report_of(std::vector<double>(40, 1.0)),
                                                report_of(std::vector<double>(40, 2.0)), options);
  EXPECT_FALSE(result.every_permutation);
  EXPECT_EQ(result.permutations, 500U);
  EXPECT_DOUBLE_EQ(result.permutation_p, 1.0 / 501);
  EXPECT_NEAR(result.sign_p, std::ldexp(1.0, -39), 1e-20);
}

TEST(Compare, NoRecordingsAtAll) {
  const ScoreComparison result = compare_scores({}, {});
  EXPECT_EQ(result.recordings, 0);
  EXPECT_EQ(result.permutation_p, 1);
  EXPECT_EQ(result.sign_p, 1);
  ScoreReport report;
  report.comparison = result;
  EXPECT_TRUE(nlohmann::json::accept(to_json(report, {})));
  EXPECT_FALSE(to_table(report, {}).empty());
}

}  // namespace
}  // namespace diarist
