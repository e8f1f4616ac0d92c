#include "cluster/kernels.hpp"

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "cluster/scan_kernels.hpp"

namespace diarist::cluster {

std::int64_t dispatched_set();  // dispatched_set.cpp

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> numbers(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<double>(engine()) / 2147483648.0 - 1.0;
  return values;
}

// Every instruction set of this build that the machine has, one after the other.
class Kernels : public testing::Test {
 protected:
  template <typename Check>
  static void with_every_set(const Check& check) {
    const std::int64_t all = hwy::SupportedTargets() & HWY_TARGETS;
    ASSERT_NE(all, 0);
    for (std::int64_t rest = all; rest != 0; rest &= rest - 1) {
      choose(rest & -rest);
      SCOPED_TRACE(hwy::TargetName(rest & -rest));
      ASSERT_EQ(dispatched_set(), rest & -rest) << "another set would run";
      check();
    }
  }

  void TearDown() override { choose(0); }

 private:
  static void choose(std::int64_t set) {
    hwy::SetSupportedTargetsForTest(set);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

// Rows in reverse, so that nobody relies on where they lie.
TileRows rows_of(const std::vector<double>& left, std::size_t inner, std::size_t step) {
  TileRows rows;
  rows.step = step;
  for (std::size_t r = 0; r < kTile; ++r) rows.rows[r] = &left[(kTile - 1 - r) * inner * step];
  return rows;
}

TEST_F(Kernels, ProductsAreThePlainSumsInOrder) {
  constexpr std::size_t kStride = 11;
  for (const std::size_t inner : {0, 1, 5, 256}) {
    for (const std::size_t step : {1, 8}) {
      const std::vector<double> left = numbers(kTile * std::max<std::size_t>(inner, 1) * step, 1);
      const std::vector<double> panel = numbers(inner * kTile + 1, 2);
      const std::vector<double> before = numbers(kTile * kStride, 3);
      const TileRows rows = rows_of(left, inner, step);
      for (const bool from_zero : {false, true}) {
        std::vector<double> expected = before;
        for (std::size_t r = 0; r < kTile; ++r)
          for (std::size_t j = 0; j < kTile; ++j) {
            double& sum = expected[r * kStride + j];
            if (from_zero) sum = 0;
            for (std::size_t k = 0; k < inner; ++k)
              sum += rows.rows[r][k * step] * panel[k * kTile + j];
          }
        with_every_set([&] {
          std::vector<double> sums = before;
          add_products(rows, panel.data(), inner, {sums.data(), kStride, from_zero});
          EXPECT_EQ(sums, expected) << inner << " step " << step;
        });
      }
    }
  }
}

TEST_F(Kernels, DistancesAreTheRootsOfPlainSumsInOrder) {
  for (const std::size_t inner : {1, 3, 192, 256}) {
    std::vector<double> left = numbers(kTile * inner, 4);
    std::vector<double> panel = numbers(inner * kTile, 5);
    const TileRows rows = rows_of(left, inner, 1);
    for (std::size_t k = 0; k < inner; ++k) panel[k * kTile + 2] = rows.rows[6][k];  // equal rows
    std::vector<double> expected;
    for (std::size_t r = 0; r < kTile; ++r)
      for (std::size_t j = 0; j < kTile; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < inner; ++k) {
          const double difference = rows.rows[r][k] - panel[k * kTile + j];
          sum += difference * difference;
        }
        expected.push_back(std::sqrt(sum));
      }
    EXPECT_EQ(expected[6 * kTile + 2], 0.0);
    with_every_set([&] {
      std::vector<double> distances(kTile * kTile, kNan);
      tile_distances(rows, panel.data(), inner, distances.data());
      EXPECT_EQ(distances, expected) << inner;
    });
  }
}

TEST_F(Kernels, MergedDistancesFollowTheFormula) {
  std::vector<double> to_x = numbers(24, 6), to_y = numbers(24, 7);
  for (double& value : to_x) value = std::abs(value);
  for (double& value : to_y) value = std::abs(value);
  to_x[9] = to_y[9] = 0.25;  // nearer than half the distance: the square falls below zero
  const double na = 3, nb = 5, d = 0.6;
  std::vector<double> expected;
  for (std::size_t i = 0; i < to_x.size(); ++i) {
    const double shrink = na * nb * d * d / (na + nb);
    const double near = na * to_x[i] * to_x[i] + nb * to_y[i] * to_y[i];
    expected.push_back(std::sqrt(std::max((near - shrink) / (na + nb), 0.0)));
  }
  EXPECT_EQ(expected[9], 0.0);
  with_every_set([&] {
    std::vector<double> in_place = to_y;
    merged_distances({na, nb, d}, to_x.data(), in_place.data(), in_place.size(), in_place.data());
    EXPECT_EQ(in_place, expected);
  });
}

TEST_F(Kernels, TheFirstOfEqualMinimaIsFound) {
  for (std::size_t count = 1; count < 80; ++count) {
    std::vector<double> values = numbers(count, static_cast<unsigned>(count));
    for (double& value : values) value = std::floor(value * 4.0);  // many equal ones
    std::vector<double> extra(count, 0.0);
    for (std::size_t i = 0; i < count; i += 3) extra[i] = kInfinity;
    if (count > 4) values[4] = kNan;
    std::size_t place = count;
    double least = kInfinity;
    for (std::size_t i = 0; i < count; ++i)
      if (values[i] + extra[i] < least) {
        least = values[i];
        place = i;
      }
    with_every_set([&] {
      const Minimum found = first_minimum(values.data(), extra.data(), count);
      EXPECT_EQ(found.place, place) << count;
      EXPECT_EQ(found.value, least) << count;
    });
  }
}

TEST_F(Kernels, NothingBelowInfinityIsNoMinimum) {
  const std::vector<double> values(37, kNan), extra(37, kInfinity);
  with_every_set([&] {
    EXPECT_EQ(first_minimum(values.data(), extra.data(), 37).place, 37U);
    EXPECT_EQ(first_minimum(values.data(), extra.data(), 0).place, 0U);
  });
}

TEST_F(Kernels, ExponentialsAreThoseOfTheLibrary) {
  std::vector<double> values = numbers(1003, 11);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= i % 3 == 0 ? 690.0 : 20.0;
  values[5] = 0.25;
  values[6] = -699.9;
  values[7] = -700.5;
  values[8] = -1e300;
  values[9] = -kInfinity;
  const double shift = 0.25;
  std::vector<double> first;
  with_every_set([&] {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{7}, values.size()}) {
      std::vector<double> out(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
      out.push_back(-5.0);
      exponentials(out.data(), shift, count, out.data());
      EXPECT_EQ(out[count], -5.0);
      for (std::size_t i = 0; i < count; ++i) {
        const double x = values[i] - shift;
        const double expected = x < -700.0 ? 0.0 : std::exp(x);
        EXPECT_NEAR(out[i], expected, 5e-16 * expected) << x;
      }
      if (count != values.size()) continue;
      if (first.empty()) first = out;
      EXPECT_EQ(out, first);
    }
  });
}

TEST_F(Kernels, ProductsOfCodesAreExact) {
  for (const std::size_t width : {64, 192, 256}) {
    constexpr std::size_t kRows = 9;
    std::mt19937 engine(static_cast<unsigned>(width));
    std::vector<std::int16_t> codes(kRows * width);
    // Squares of rows are at most 2^30: all of it in one number, or spread.
    for (std::size_t i = 0; i < codes.size(); ++i)
      codes[i] = static_cast<std::int16_t>(static_cast<int>(engine() % 4001) - 2000);
    for (std::size_t row = 0; row < 4; ++row) {
      std::fill_n(&codes[row * width], width, std::int16_t{0});
      codes[row * width + width - 1 - row / 2] = row % 2 == 0 ? 32767 : -32768;
    }
    const std::vector<std::uint32_t> places = {8, 0, 3, 3, 1, 5, 2};
    with_every_set([&] {
      for (std::size_t row = 0; row < kRows; ++row) {
        std::vector<std::int32_t> products(places.size());
        code_products(&codes[row * width], codes.data(), places.data(), places.size(), width,
                      products.data());
        for (std::size_t i = 0; i < places.size(); ++i) {
          std::int64_t sum = 0;
          for (std::size_t k = 0; k < width; ++k)
            sum += std::int64_t{codes[row * width + k]} * codes[places[i] * width + k];
          EXPECT_EQ(products[i], sum) << row << " " << i;
        }
      }
    });
  }
}

TEST_F(Kernels, HeadsAndSquaresAreNearPlainSums) {
  for (const std::size_t dim : {1, 5, 16, 130, 256}) {
    const std::vector<double> basis = numbers(dim * kCodeStep, 3), a = numbers(dim, 4),
                              b = numbers(dim, 5);
    with_every_set([&] {
      double heads[kCodeStep];
      head_products(a.data(), basis.data(), dim, heads);
      for (std::size_t j = 0; j < kCodeStep; ++j) {
        double sum = 0;
        for (std::size_t d = 0; d < dim; ++d) sum += a[d] * basis[d * kCodeStep + j];
        EXPECT_NEAR(heads[j], sum, 1e-13);
      }
      double square = 0;
      for (std::size_t d = 0; d < dim; ++d) square += (a[d] - b[d]) * (a[d] - b[d]);
      EXPECT_NEAR(square_distance(a.data(), b.data(), dim), square, 1e-15 * (dim + 4) * square);
      const std::vector<float> narrow(b.begin(), b.end());
      const std::vector<double> rounded(narrow.begin(), narrow.end());
      EXPECT_EQ(square_distance(a.data(), narrow.data(), dim),
                square_distance(a.data(), rounded.data(), dim));
    });
  }
}

}  // namespace
}  // namespace diarist::cluster
