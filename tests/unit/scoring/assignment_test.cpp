// Best pairs against all permutations, and the choice between equal ones against scipy's.

#include "output/assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace diarist::output {
namespace {

double weight_of(const std::vector<double>& weights, int columns, const std::vector<int>& pairs) {
  double sum = 0;
  for (std::size_t row = 0; row < pairs.size(); ++row) {
    if (pairs[row] >= 0) {
      sum +=
          weights[row * static_cast<std::size_t>(columns) + static_cast<std::size_t>(pairs[row])];
    }
  }
  return sum;
}

// Best weight by trying everything; rows <= columns.
double best_by_trying(const std::vector<double>& weights, int rows, int columns) {
  std::vector<int> order(static_cast<std::size_t>(columns));
  std::iota(order.begin(), order.end(), 0);
  double best = -1e300;
  do {
    best = std::max(best, weight_of(weights, columns, {order.begin(), order.begin() + rows}));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Assignment, WeighsAsMuchAsTheBestOfAllPermutations) {
  std::mt19937 draw(7);
  for (int round = 0; round < 300; ++round) {
    const int rows = static_cast<int>(draw() % 6) + 1;
    const int columns = static_cast<int>(draw() % 6) + 1;
    const bool coarse = draw() % 2 == 0;  // whole numbers make many equal pairings
    std::vector<double> weights(static_cast<std::size_t>(rows * columns));
    for (double& weight : weights) weight = coarse ? draw() % 4 : draw() / 4e9 - 0.3;
    const std::vector<int> pairs = best_pairs(weights, rows, columns);

    ASSERT_EQ(pairs.size(), static_cast<std::size_t>(rows));
    std::vector<int> used;
    for (const int column : pairs) {
      if (column >= 0) used.push_back(column);
    }
    EXPECT_EQ(used.size(), static_cast<std::size_t>(std::min(rows, columns)));
    std::sort(used.begin(), used.end());
    EXPECT_EQ(std::unique(used.begin(), used.end()), used.end());

    std::vector<double> turned(weights.size());
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        turned[static_cast<std::size_t>(c * rows + r)] =
            weights[static_cast<std::size_t>(r * columns + c)];
      }
    }
    const double best = rows <= columns ? best_by_trying(weights, rows, columns)
                                        : best_by_trying(turned, columns, rows);
    EXPECT_NEAR(weight_of(weights, columns, pairs), best, 1e-12);
  }
}

TEST(Assignment, ChoosesBetweenEqualPairingsAsScipyDoes) {
  // scipy 1.17.1: linear_sum_assignment(weights, maximize=True)
  EXPECT_EQ(best_pairs(std::vector<double>(9, 1.0), 3, 3), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(best_pairs({0, 0, 0, 0, 0, 0}, 3, 2), (std::vector<int>{0, 1, -1}));
  EXPECT_EQ(best_pairs({2, 2, 0, 2, 2, 2}, 2, 3), (std::vector<int>{0, 1}));
  EXPECT_EQ(best_pairs({1, 2, 1, 2, 1, 2, 1, 2, 3}, 3, 3), (std::vector<int>{1, 0, 2}));
  EXPECT_EQ(best_pairs({1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1}, 4, 3),
            (std::vector<int>{0, 1, 2, -1}));
}

TEST(Assignment, HandlesEmptySides) {
  EXPECT_TRUE(best_pairs({}, 0, 3).empty());
  EXPECT_EQ(best_pairs({}, 2, 0), (std::vector<int>{-1, -1}));
}

}  // namespace
}  // namespace diarist::output
