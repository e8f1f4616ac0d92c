#include "cluster/assignment.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/golden.hpp"

namespace diarist::cluster {
namespace {

// Scores are small integers, so most sums are reached in several ways; scipy decided which.
TEST(MaxAssignment, EqualsScipyAlsoWhenSumsAreEqual) {
  const test::Golden golden(std::filesystem::path(DIARIST_GOLDEN) / "assignment.npz");
  ASSERT_EQ(golden.cases(), 13);
  for (int i = 0; i < golden.cases(); ++i) {
    const std::string name = "scores" + std::to_string(i);
    const auto scores = golden.get<double>(name);
    const auto chosen = golden.get<std::int32_t>("chosen" + std::to_string(i));
    const std::size_t rows = golden.dim(name, 1), columns = golden.dim(name, 2);
    for (std::size_t m = 0; m < golden.dim(name, 0); ++m) {
      const auto assigned = max_assignment(
          std::span(scores).subspan(m * rows * columns, rows * columns), rows, columns);
      for (std::size_t r = 0; r < rows; ++r)
        EXPECT_EQ(assigned[r], chosen[m * rows + r]) << rows << " x " << columns << " number " << m;
    }
  }
}

TEST(MaxAssignment, LeavesRowsOutWhenThereAreTooFewColumns) {
  EXPECT_EQ(max_assignment(std::vector<double>{1, 3, 2}, 3, 1),
            (std::vector<std::int32_t>{-1, 0, -1}));
  EXPECT_EQ(max_assignment(std::vector<double>{}, 0, 0), (std::vector<std::int32_t>{}));
}

// The best sum takes the second choice of both.
TEST(MaxAssignment, MaximisesTheSumNotTheSingleScores) {
  EXPECT_EQ(max_assignment(std::vector<double>{9, 8, 8, 0}, 2, 2),
            (std::vector<std::int32_t>{1, 0}));
}

}  // namespace
}  // namespace diarist::cluster
