#include "timeline/rank.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/golden.hpp"

namespace diarist::timeline {
namespace {

// Rows of 2 to 300 columns full of equal values; the orders are NumPy's with its vector sorts
// switched off.
TEST(RankColumns, EqualsNumpysScalarIndexSort) {
  const test::Golden golden(std::filesystem::path(DIARIST_GOLDEN) / "rank.npz");
  ASSERT_EQ(golden.cases(), 14);
  for (int i = 0; i < golden.cases(); ++i) {
    const std::string name = "values" + std::to_string(i);
    const auto small = golden.get<std::int32_t>(name);
    const std::vector<std::uint16_t> values(small.begin(), small.end());
    const auto expected = golden.get<std::int32_t>("order" + std::to_string(i));
    const std::size_t columns = golden.dim(name, 1);
    for (std::size_t row = 0; row < golden.dim(name, 0); ++row) {
      std::vector<std::int32_t> order(columns);
      rank_columns(std::span(values).subspan(row * columns, columns), order);
      const std::vector<std::int32_t> wanted(
          expected.begin() + static_cast<std::ptrdiff_t>(row * columns),
          expected.begin() + static_cast<std::ptrdiff_t>((row + 1) * columns));
      EXPECT_EQ(order, wanted) << columns << " columns, row " << row;
    }
  }
}

TEST(RankColumns, IsStableForAtMostSixteenColumns) {
  const std::vector<std::uint16_t> values = {1, 5, 1, 5, 0, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9};
  std::vector<std::int32_t> order(16);
  rank_columns(values, order);
  EXPECT_EQ(order,
            (std::vector<std::int32_t>{15, 1, 3, 5, 0, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 4}));
  std::vector<std::int32_t> none;
  rank_columns({}, none);
}

}  // namespace
}  // namespace diarist::timeline
