#include "cluster/plda.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "diarist/error.hpp"

namespace diarist::cluster {
namespace {

// Small but complete: projection takes the first 128 dimensions, whitening doubles.
Plda plda() {
  Plda made;
  made.mean1.assign(256, 0.0);
  made.lda.assign(256 * 128, 0.0);
  for (std::size_t i = 0; i < 128; ++i) made.lda[i * 128 + i] = 1.0;
  made.mean2.assign(128, 0.0);
  made.mu.assign(128, 0.5);
  made.tr.assign(128 * 128, 0.0);
  for (std::size_t i = 0; i < 128; ++i) made.tr[i * 128 + i] = 2.0;
  for (std::size_t i = 0; i < 128; ++i) made.psi.push_back(130.0 - static_cast<double>(i));
  return made;
}

TEST(Plda, FollowsTheThreeSteps) {
  std::vector<float> embedding(256, 0.0F);
  embedding[3] = 3.0F;
  embedding[7] = 4.0F;
  std::vector<double> whitened, features;
  plda().features(embedding, &whitened, features);
  ASSERT_EQ(features.size(), 128U);
  EXPECT_NEAR(whitened[3], 0.6 * std::sqrt(128.0), 1e-12);
  EXPECT_NEAR(whitened[7], 0.8 * std::sqrt(128.0), 1e-12);
  EXPECT_NEAR(features[3], 2 * (0.6 * std::sqrt(128.0) - 0.5), 1e-12);
  EXPECT_NEAR(features[0], -1.0, 1e-12);
}

TEST(Plda, SortsVariancesWithTheirRows) {
  Plda made = plda();
  std::swap(made.psi[0], made.psi[5]);
  for (std::size_t j = 0; j < 128; ++j) std::swap(made.tr[j], made.tr[5 * 128 + j]);
  made.check_and_sort();
  const Plda expected = plda();
  EXPECT_EQ(made.psi, expected.psi);
  EXPECT_EQ(made.tr, expected.tr);
}

TEST(Plda, RefusesDamagedArrays) {
  const auto code_of = [](Plda damaged) {
    try {
      damaged.check_and_sort();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  };
  Plda shorter = plda();
  shorter.lda.pop_back();
  EXPECT_EQ(code_of(shorter), ErrorCode::kBadModel);
  Plda nan = plda();
  nan.mu[9] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(code_of(nan), ErrorCode::kBadModel);
  Plda negative = plda();
  negative.psi[127] = -1;
  EXPECT_EQ(code_of(negative), ErrorCode::kBadModel);
}

}  // namespace
}  // namespace diarist::cluster
