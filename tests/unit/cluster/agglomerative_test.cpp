#include "cluster/agglomerative.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace diarist::cluster {
namespace {

// Rows on a circle, `per` around each of the given angles.
std::vector<float> circle(const std::vector<double>& angles, int per) {
  std::vector<float> rows;
  for (const double angle : angles)
    for (int i = 0; i < per; ++i) {
      const double a = angle + 0.002 * i;
      rows.insert(rows.end(), {static_cast<float>(std::cos(a)), static_cast<float>(std::sin(a))});
    }
  return rows;
}

TEST(Agglomerate, FindsTheClustersAndTheNumberAskedFor) {
  const std::vector<float> rows = circle({0, 1, 2, 4}, 15);
  const auto count = [&](const CountRange& range) {
    const std::vector<std::int32_t> labels = agglomerate(rows, 2, range, nullptr);
    return *std::max_element(labels.begin(), labels.end()) + 1;
  };
  EXPECT_EQ(count({}), 4);
  EXPECT_EQ(count({.num = 3, .low = 3, .high = 3}), 3);
  EXPECT_EQ(count({.low = 1, .high = 2}), 2);
}

TEST(Agglomerate, SmallClustersJoinTheNearestLargeOne) {
  std::vector<float> rows = circle({0, 2}, 20);
  const std::vector<float> stray = circle({1.2}, 1);  // nearer to the second
  rows.insert(rows.end(), stray.begin(), stray.end());
  const std::vector<std::int32_t> labels = agglomerate(rows, 2, {}, nullptr);
  EXPECT_EQ(labels.back(), labels[20]);
  EXPECT_NE(labels[0], labels[20]);
  EXPECT_EQ(agglomerate(stray, 2, {}, nullptr), (std::vector<std::int32_t>{0}));
}

}  // namespace
}  // namespace diarist::cluster
