#include "cluster/vbx.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/task_pool.hpp"
#include "support/golden.hpp"

namespace diarist::cluster {
namespace {

void expect_near(const std::vector<double>& values, const std::vector<double>& expected,
                 double bound, const std::string& what) {
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], bound) << what << " " << i;
}

TEST(Vbx, EqualsTheExecutableSpecification) {
  const test::Golden golden(std::filesystem::path(DIARIST_GOLDEN) / "vbx.npz");
  ASSERT_EQ(golden.cases(), 4);
  base::TaskPool pool(3);
  for (int i = 0; i < golden.cases(); ++i) {
    const std::string number = std::to_string(i);
    const auto x = golden.get<double>("x" + number);
    const auto phi = golden.get<double>("phi" + number);
    const auto labels = golden.get<std::int32_t>("labels" + number);
    const VbxResult result = vbx(x, phi, labels, {}, nullptr);
    expect_near(result.responsibilities, golden.get<double>("gamma" + number), 1e-9, "gamma");
    expect_near(result.priors, golden.get<double>("pi" + number), 1e-9, "pi");
    expect_near(result.elbo, golden.get<double>("elbo" + number), 1e-7, "elbo");
    const VbxResult threaded = vbx(x, phi, labels, {}, &pool);
    EXPECT_EQ(threaded.responsibilities, result.responsibilities) << "three threads";
    EXPECT_EQ(threaded.elbo, result.elbo);
  }
}

TEST(Vbx, MergesInitialClustersOfOneVoice) {
  // Two voices 20 within-class deviations apart, each cut into two initial clusters.
  std::vector<double> x;
  std::vector<std::int32_t> labels;
  for (int t = 0; t < 60; ++t) {
    x.insert(x.end(), {t % 2 == 0 ? 10.0 : -10.0, 0.1 * (t % 7), 0.1 * (t % 5)});
    labels.push_back(t % 4);
  }
  const VbxResult result =
      vbx(x, std::vector<double>{9, 1, 1}, labels, {.fa = 1, .fb = 8}, nullptr);
  for (std::size_t t = 0; t < labels.size(); ++t) {
    double even = result.responsibilities[t * 4] + result.responsibilities[t * 4 + 2];
    EXPECT_NEAR(even, t % 2 == 0 ? 1.0 : 0.0, 1e-6);
  }
  EXPECT_GE(result.elbo.size(), 2U);
  EXPECT_LE(result.elbo.size(), 20U);
  for (std::size_t i = 1; i + 1 < result.elbo.size(); ++i)
    EXPECT_GE(result.elbo[i], result.elbo[i - 1]) << "the bound never falls before the end";
}

TEST(Vbx, ColumnsThatFadeChangeNoLabel) {
  // Five voices, cut into 60 initial clusters: most of them are of no use after a few rounds.
  constexpr std::size_t kDim = 32, kRows = 900, kInitial = 60;
  std::vector<double> x;
  std::vector<std::int32_t> labels;
  std::mt19937 engine(3);
  const auto noise = [&] { return static_cast<double>(engine()) / 2147483648.0 - 1.0; };
  for (std::size_t t = 0; t < kRows; ++t) {
    for (std::size_t d = 0; d < kDim; ++d)
      x.push_back((d % 5 == t % 5 ? 6.0 : 0.0) + 1.2 * noise());
    labels.push_back(static_cast<std::int32_t>(t % kInitial));
  }
  const std::vector<double> phi(kDim, 0.8);
  const VbxResult whole = vbx(x, phi, labels, {.fb = 0.5}, nullptr);
  const VbxResult result = vbx(x, phi, labels, {.fb = 0.5, .faded = 1e-6}, nullptr);
  ASSERT_EQ(result.speakers, whole.speakers);
  ASSERT_EQ(result.responsibilities.size(), whole.responsibilities.size());
  EXPECT_EQ(result.elbo.size(), whole.elbo.size());
  std::size_t zeros = 0;
  for (std::size_t t = 0; t < kRows; ++t) {
    const auto label = [&](const VbxResult& each) {
      const auto row = each.responsibilities.begin() + static_cast<std::ptrdiff_t>(t * kInitial);
      return std::max_element(row, row + kInitial) - row;
    };
    EXPECT_EQ(label(result), label(whole)) << t;
  }
  for (std::size_t i = 0; i < whole.responsibilities.size(); ++i) {
    ASSERT_NEAR(result.responsibilities[i], whole.responsibilities[i], 1e-6);
    zeros += result.responsibilities[i] == 0 ? 1 : 0;
  }
  EXPECT_GT(zeros, kRows * kInitial / 2) << "nothing was left out";
}

}  // namespace
}  // namespace diarist::cluster
