#include "cluster/scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace diarist::cluster {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Scores, InactivePairsRankBelowEverything) {
  std::vector<double> scores = {0.5, -0.25, 0.1, 0.2, 0.9, 0.9};
  make_reference_scores(scores, {true, true, false}, true, true);
  EXPECT_EQ(scores, (std::vector<double>{1.5, 0.75, 1.1, 1.2, -0.25, -0.25}));
}

TEST(Scores, ANanBecomesTheSmallestScore) {
  std::vector<double> scores = {0.5, kNan, -0.75};
  make_reference_scores(scores, {true, true, false}, true, true);
  // In the reference inactive pairs then get the smallest active score as well.
  EXPECT_EQ(scores, (std::vector<double>{1.5, 1.5, 1.5}));
  scores = {0.5, kNan, -0.75};
  make_reference_scores(scores, {true, true, false}, true, false);
  EXPECT_EQ(scores, (std::vector<double>{1.5, 1.5, -0.75}));
}

TEST(Scores, AreLeftAloneForAForcedNumber) {
  std::vector<double> scores = {0.5, kNan, -0.75};
  make_reference_scores(scores, {true, true, false}, false, true);
  EXPECT_EQ(scores[0], 1.5);
  EXPECT_TRUE(std::isnan(scores[1]));
  EXPECT_EQ(scores[2], 0.25);
}

TEST(AssignPairs, FirstMaximumAndNanLikeNumpy) {
  const std::vector<double> scores = {1, 1, 0, 0, 2, 2, 3, kNan, 9};
  EXPECT_EQ(assign_pairs(scores, 3, false), (std::vector<std::int32_t>{0, 1, 1}));
}

TEST(AssignPairs, OneClusterPerLocalSpeaker) {
  const std::vector<double> scores = {1.9, 1.0, 1.8, 1.7, 0.1, 0.1, 0.3, 0.2, 0.1, 0.2, 0.5, 0.6};
  EXPECT_EQ(assign_pairs(scores, 2, true), (std::vector<std::int32_t>{0, 1, -2, 0, -2, 1}));
}

TEST(Scores, IsotropicConstants) {
  std::vector<double> scores = {0.5, kNan, 0.7};
  make_isotropic_scores(scores, {true, true, false});
  EXPECT_EQ(scores, (std::vector<double>{0.5, -1.5, -3.0}));
}

}  // namespace
}  // namespace diarist::cluster
