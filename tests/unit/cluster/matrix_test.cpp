#include "cluster/matrix.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/task_pool.hpp"

namespace diarist::cluster {
namespace {

std::vector<double> numbers(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<double>(engine()) / 2147483648.0 - 1.0;
  return values;
}

// Shapes around the tile sizes, an inner dimension longer than one stretch, and empty ones.
TEST(Multiply, IsThePlainSumInOrderForEveryShapeAndThreadCount) {
  base::TaskPool pool(3);
  const std::size_t shapes[][3] = {{1, 1, 1},  {2, 3, 8},     {3, 256, 9},  {65, 257, 17},
                                   {64, 8, 8}, {130, 700, 3}, {129, 1, 33}, {5, 0, 4}};
  for (const auto& [rows, inner, columns] : shapes) {
    const std::vector<double> a = numbers(rows * inner, 1), b = numbers(inner * columns, 2);
    std::vector<double> expected(rows * columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < inner; ++k)
        for (std::size_t j = 0; j < columns; ++j)
          expected[i * columns + j] += a[i * inner + k] * b[k * columns + j];
    std::vector<double> c(rows * columns, 7.0), threaded = c, from_transposed = c;
    multiply({a.data(), inner, 1}, b.data(), c.data(), rows, inner, columns, nullptr);
    EXPECT_EQ(c, expected) << rows << " x " << inner << " x " << columns;
    multiply({a.data(), inner, 1}, b.data(), threaded.data(), rows, inner, columns, &pool);
    EXPECT_EQ(threaded, expected);
    std::vector<double> at(a.size());
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < inner; ++k) at[k * rows + i] = a[i * inner + k];
    multiply({at.data(), 1, rows}, b.data(), from_transposed.data(), rows, inner, columns, &pool);
    EXPECT_EQ(from_transposed, expected);
  }
}

}  // namespace
}  // namespace diarist::cluster
