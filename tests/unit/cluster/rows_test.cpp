#include "cluster/rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace diarist::cluster {
namespace {

// 2^24 + 1 is not a float, so every lost unit tells in which order the terms were added.
TEST(SumOfSquares, AddsEightInterleavedSumsAndHalvesLongRows) {
  std::vector<float> row(16, 1.0F);
  row[0] = 4096.0F;  // 2^24 squared: its lane swallows the next 1, the other lanes do not
  EXPECT_EQ(sum_of_squares(row), 16777216.0F + 14.0F);
  std::vector<float> halves(256, 1.0F);
  halves[0] = 4096.0F;  // 128 values in the first half: lane 0 swallows 15
  EXPECT_EQ(sum_of_squares(halves), 16777216.0F + 240.0F);
  EXPECT_EQ(sum_of_squares(std::vector<float>{3.0F, 4.0F}), 25.0F);
}

TEST(UnitRows, HaveLengthOne) {
  const std::vector<float> unit = unit_rows(std::vector<float>{3, 4, 0, -2}, 2);
  EXPECT_EQ(unit, (std::vector<float>{0.6F, 0.8F, 0.0F, -1.0F}));
}

TEST(ClusterMeans, AreMeansAndNanWithoutRows) {
  const std::vector<float> rows = {1, 2, 3, 4, 10, 20};
  const std::vector<std::int32_t> labels = {0, 0, 2};
  const std::vector<float> means = cluster_means(rows, 2, labels, 3);
  EXPECT_EQ(means[0], 2.0F);
  EXPECT_EQ(means[1], 3.0F);
  EXPECT_TRUE(std::isnan(means[2]) && std::isnan(means[3]));
  EXPECT_EQ(means[4], 10.0F);
}

TEST(Renumber, ClosesHolesAndKeepsTheOrder) {
  std::vector<std::int32_t> labels = {7, 2, 7, 30, 2};
  EXPECT_EQ(renumber(labels), 3);
  EXPECT_EQ(labels, (std::vector<std::int32_t>{1, 0, 1, 2, 0}));
}

}  // namespace
}  // namespace diarist::cluster
