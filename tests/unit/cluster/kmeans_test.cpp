#include "cluster/kmeans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/task_pool.hpp"
#include "cluster/random_state.hpp"
#include "support/golden.hpp"

namespace diarist::cluster {
namespace {

// numpy.random.RandomState(42).random_sample(3)
TEST(RandomState, DrawsNumpysNumbers) {
  RandomState random(42);
  EXPECT_DOUBLE_EQ(random.next(), 0.3745401188473625);
  EXPECT_DOUBLE_EQ(random.next(), 0.9507143064099162);
  EXPECT_DOUBLE_EQ(random.next(), 0.7319939418114051);
}

TEST(Kmeans, EqualsScikitLearnForEveryNumberOfClusters) {
  const test::Golden golden(std::filesystem::path(DIARIST_GOLDEN) / "kmeans.npz");
  ASSERT_EQ(golden.cases(), 6);
  base::TaskPool pool(2);
  for (int i = 0; i < golden.cases(); ++i) {
    const std::string number = std::to_string(i);
    const auto rows = golden.get<float>("rows" + number);
    const auto labels = golden.get<std::int32_t>("labels" + number);
    const auto ks = golden.get<std::int32_t>("k" + number);
    const std::size_t n = golden.dim("rows" + number, 0), dim = golden.dim("rows" + number, 1);
    for (std::size_t j = 0; j < ks.size(); ++j) {
      const std::vector<std::int32_t> expected(
          labels.begin() + static_cast<std::ptrdiff_t>(j * n),
          labels.begin() + static_cast<std::ptrdiff_t>((j + 1) * n));
      EXPECT_EQ(kmeans(rows, dim, ks[j]), expected) << "case " << i << " k " << ks[j];
      EXPECT_EQ(kmeans(rows, dim, ks[j], &pool), expected) << "two threads";
    }
  }
}

TEST(Kmeans, CopesWithFewerDifferentRowsThanClusters) {
  std::vector<float> rows;
  for (int i = 0; i < 12; ++i) rows.insert(rows.end(), {i % 2 == 0 ? 1.0F : 0.0F, 0.5F});
  const std::vector<std::int32_t> labels = kmeans(rows, 2, 5);
  ASSERT_EQ(labels.size(), 12U);
  for (std::size_t i = 2; i < labels.size(); ++i) EXPECT_EQ(labels[i], labels[i % 2]);
  EXPECT_NE(labels[0], labels[1]);
  EXPECT_TRUE(std::all_of(labels.begin(), labels.end(), [](int k) { return k >= 0 && k < 5; }));
}

}  // namespace
}  // namespace diarist::cluster
