#include "cluster/hints.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "diarist/error.hpp"

namespace diarist::cluster {
namespace {

bool refused(const SpeakerHints& hints, bool reference) {
  try {
    check_hints(hints, reference);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return true;
  }
  return false;
}

TEST(Hints, ZeroAndNegativeNumbers) {
  for (const bool reference : {false, true}) {
    EXPECT_TRUE(refused({.num = -1}, reference));
    EXPECT_TRUE(refused({.min = -2}, reference));
    EXPECT_TRUE(refused({.max = -3}, reference));
    EXPECT_EQ(refused({.num = 0}, reference), !reference) << "the reference ignores zero";
    EXPECT_EQ(refused({.min = 0}, reference), !reference);
    EXPECT_EQ(refused({.max = 0}, reference), !reference);
  }
}

TEST(Hints, Contradictions) {
  for (const bool reference : {false, true}) {
    EXPECT_TRUE(refused({.min = 3, .max = 2}, reference));
    EXPECT_FALSE(refused({.min = 2, .max = 2}, reference));
    EXPECT_FALSE(refused({.num = 3, .min = 1, .max = 3}, reference));
    EXPECT_EQ(refused({.num = 3, .min = 4}, reference), !reference) << "num wins there";
    EXPECT_EQ(refused({.num = 3, .max = 2}, reference), !reference);
  }
}

TEST(Hints, BecomeARange) {
  constexpr int kAny = std::numeric_limits<int>::max();
  const auto expect = [](const SpeakerHints& hints, std::optional<int> num, int low, int high) {
    const CountRange range = range_of(hints);
    EXPECT_EQ(range.num, num);
    EXPECT_EQ(range.low, low);
    EXPECT_EQ(range.high, high);
  };
  expect({}, {}, 1, kAny);
  expect({.num = 4}, 4, 4, 4);
  expect({.num = 4, .min = 2, .max = 9}, 4, 4, 4);
  expect({.min = 2}, {}, 2, kAny);
  expect({.max = 5}, {}, 1, 5);
  expect({.max = 1}, 1, 1, 1);
  expect({.min = 3, .max = 3}, 3, 3, 3);
  expect({.num = 0, .min = 2}, {}, 2, kAny);
}

TEST(Hints, UnmetMinimumIsSaid) {
  EXPECT_FALSE(unmet_minimum({}, 0));
  EXPECT_FALSE(unmet_minimum({.max = 3}, 1));
  EXPECT_FALSE(unmet_minimum({.num = 1}, 0)) << "silence has no speaker";
  EXPECT_FALSE(unmet_minimum({.min = 2}, 2));
  const auto warning = unmet_minimum({.num = 4}, 3);
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->find("4"), std::string::npos);
  EXPECT_NE(warning->find("3"), std::string::npos);
}

}  // namespace
}  // namespace diarist::cluster
