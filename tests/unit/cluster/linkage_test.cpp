#include "cluster/linkage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/task_pool.hpp"
#include "support/golden.hpp"

namespace diarist::cluster {
namespace {

const test::Golden& golden() {
  static const test::Golden file(std::filesystem::path(DIARIST_GOLDEN) / "linkage.npz");
  return file;
}

// 35 trees made by scipy, most of them full of equal distances.
TEST(CentroidLinkage, EqualsScipyAlsoWhenDistancesAreEqual) {
  ASSERT_EQ(golden().cases(), 35);
  for (int i = 0; i < golden().cases(); ++i) {
    const std::string number = std::to_string(i);
    const auto rows = golden().get<float>("rows" + number);
    const std::vector<Merge> tree =
        centroid_linkage(rows, golden().dim("rows" + number, 1), nullptr);
    const auto expected = golden().get<double>("tree" + number);
    ASSERT_EQ(tree.size() * 4, expected.size());
    for (std::size_t k = 0; k < tree.size(); ++k) {
      EXPECT_EQ(tree[k].left, expected[4 * k]) << "case " << i << " merge " << k;
      EXPECT_EQ(tree[k].right, expected[4 * k + 1]) << "case " << i << " merge " << k;
      EXPECT_NEAR(tree[k].distance, expected[4 * k + 2], 1e-10) << "case " << i << " merge " << k;
      EXPECT_EQ(tree[k].size, expected[4 * k + 3]);
    }
  }
}

TEST(FlatClusters, EqualScipysNumbersForEveryThreshold) {
  for (int i = 0; i < golden().cases(); ++i) {
    const std::string number = std::to_string(i);
    const auto numbers = golden().get<double>("tree" + number);
    std::vector<Merge> tree;
    for (std::size_t k = 0; k < numbers.size(); k += 4)
      tree.push_back({static_cast<std::int32_t>(numbers[k]),
                      static_cast<std::int32_t>(numbers[k + 1]), numbers[k + 2],
                      static_cast<std::int32_t>(numbers[k + 3])});
    const auto cuts = golden().get<double>("cuts" + number);
    const auto labels = golden().get<std::int32_t>("labels" + number);
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      const std::size_t n = tree.size() + 1;
      const std::vector<std::int32_t> expected(
          labels.begin() + static_cast<std::ptrdiff_t>(c * n),
          labels.begin() + static_cast<std::ptrdiff_t>((c + 1) * n));
      EXPECT_EQ(flat_clusters(tree, cuts[c]), expected) << "case " << i << " cut " << cuts[c];
    }
  }
}

TEST(CentroidLinkage, IsTheSameForAnyNumberOfThreads) {
  std::vector<float> rows(500 * 5);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<float>((i * i * 7 + i * 13) % 101) / 10.0F;
  const std::vector<Merge> alone = centroid_linkage(rows, 5, nullptr);
  for (const int threads : {1, 2, 3, 5}) {
    base::TaskPool pool(threads);
    const std::vector<Merge> tree = centroid_linkage(rows, 5, &pool);
    ASSERT_EQ(tree.size(), alone.size());
    for (std::size_t k = 0; k < tree.size(); ++k) {
      EXPECT_EQ(tree[k].left, alone[k].left);
      EXPECT_EQ(tree[k].right, alone[k].right);
      EXPECT_EQ(tree[k].distance, alone[k].distance);
    }
  }
}

TEST(CentroidLinkage, HandlesFewRows) {
  EXPECT_TRUE(centroid_linkage({}, 4, nullptr).empty());
  EXPECT_TRUE(centroid_linkage(std::vector<float>{1, 2}, 2, nullptr).empty());
  EXPECT_EQ(flat_clusters(std::vector<Merge>{}, 0.5), (std::vector<std::int32_t>{0}));
}

// An inversion: the last merge is nearer than the one before, but it contains it.
TEST(FlatClusters, CutByTheLargestDistanceInsideASubtree) {
  const std::vector<Merge> tree = {{0, 1, 1.0, 2}, {2, 3, 0.9, 3}};
  EXPECT_EQ(flat_clusters(tree, 0.95), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(flat_clusters(tree, 1.0), (std::vector<std::int32_t>{0, 0, 0}));
}

}  // namespace
}  // namespace diarist::cluster
