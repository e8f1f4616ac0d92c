#include "cluster/scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/task_pool.hpp"
#include "cluster/training.hpp"

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

// Parts of a few windows give what all windows at once give, NaN and inactive pairs included.
TEST(AssignByCosine, PartsChangeNothing) {
  constexpr int kWindows = 40, kDim = 8, kClusters = 5;
  std::mt19937 engine(4);
  const auto number = [&] { return static_cast<float>(engine()) / 2147483648.0F - 1.0F; };
  std::vector<float> embeddings(kWindows * 3 * kDim);
  for (float& x : embeddings) x = number();
  embeddings[17 * kDim] = std::numeric_limits<float>::quiet_NaN();
  std::vector<double> centroids(kClusters * kDim);
  for (double& x : centroids) x = number();
  std::vector<bool> active;
  for (int pair = 0; pair < 3 * kWindows; ++pair) active.push_back(engine() % 4 != 0);
  const std::vector<std::uint8_t> activity(kWindows * kFrames);
  const Input input{kWindows, kDim, activity, embeddings};
  base::TaskPool pool(2);
  for (const bool isotropic : {false, true})
    for (const bool one_to_one : {false, true})
      for (const bool reference : {false, true}) {
        const ScoreRule rule{isotropic, one_to_one, reference};
        std::vector<double> scores = cosine_scores(embeddings, kDim, centroids, nullptr);
        if (isotropic)
          make_isotropic_scores(scores, active);
        else
          make_reference_scores(scores, active, one_to_one, reference);
        const std::vector<std::int32_t> expected = assign_pairs(scores, kClusters, one_to_one);
        for (const std::size_t most : {1, 3 * kClusters * 7, 1000000})
          EXPECT_EQ(assign_by_cosine(input, centroids, active, rule, &pool, {}, most), expected)
              << isotropic << one_to_one << reference << " parts of " << most;
      }
}

}  // namespace
}  // namespace diarist::cluster
