// Orders of Hopper's weights, read back by their description; needs no GPU.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "backend/cuda/kernels/hopper/pack.hpp"

namespace diarist::test {
namespace {

using backend::cuda::hopper::Halves;
using backend::cuda::hopper::pack_tile;
using backend::cuda::hopper::pack_walk;

constexpr float kScale = 128;

double value_of(std::uint16_t half) {
  const int exponent = (half >> 10) & 31, mantissa = half & 1023;
  const double size =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

std::vector<float> random_weights(int count) {
  std::mt19937 random(5);
  std::vector<float> weights(static_cast<std::size_t>(count));
  for (float& w : weights) w = static_cast<float>(random()) / 4294967296.0F - 0.5F;
  return weights;
}

/// High part within half a bit of 11 of the value, both parts within half a bit of 22.
void expect_split(double high, double low, double value) {
  EXPECT_LE(std::abs(high - value), std::abs(value) * 0x1p-11);
  EXPECT_LE(std::abs(high + low - value), std::abs(value) * 0x1p-21 + 0x1p-24);
}

TEST(HopperPack, TilesHoldHighLowAndHighAgain) {
  for (const bool flat : {true, false}) {
    const int slab = flat ? 32 : 64, cin = 2 * slab, cout = 64;
    const std::vector<float> weights = random_weights(cout * cin * 9);
    const Halves packed = pack_tile(weights.data(), cout, cin, true, kScale, flat);
    ASSERT_EQ(packed.size(), weights.size() * 3);
    const auto at = [&](int group, int part, int tap, int o, int c) {
      const int row = ((group * 3 + part) * 9 + tap) * cout + o;
      const int key = flat ? row / 2 % 4 : row % 8;
      const int column = ((c / 8) ^ key) * 8 + c % 8;
      return value_of(packed[static_cast<std::size_t>(row * slab + column)]);
    };
    for (int group = 0; group < 2; ++group)
      for (int tap = 0; tap < 9; ++tap)
        for (int o = 0; o < cout; ++o)
          for (int c = 0; c < slab; ++c) {
            const double value =
                weights[static_cast<std::size_t>((o * cin + group * slab + c) * 9 + tap)] * kScale;
            expect_split(at(group, 0, tap, o, c), at(group, 1, tap, o, c), value);
            EXPECT_EQ(at(group, 2, tap, o, c), at(group, 0, tap, o, c));
          }
  }
}

TEST(HopperPack, WalksHoldTheirTapsTwice) {
  constexpr int kChannels = 32, kOrder[5] = {2, 1, 0, 2, 1};
  const std::vector<float> weights = random_weights(kChannels * kChannels * 9);
  const Halves packed = pack_walk(weights.data(), kChannels, true, kScale);
  ASSERT_EQ(packed.size(), std::size_t{30} * kChannels * kChannels);
  for (int t = 0; t < 3; ++t)
    for (int f = 0; f < 5; ++f)
      for (int o = 0; o < kChannels; ++o)
        for (int c = 0; c < kChannels; ++c) {
          const auto at = [&](int part) {
            return value_of(packed[static_cast<std::size_t>(
                (((part * 3 + t) * 5 + f) * kChannels + o) * kChannels + c)]);
          };
          const auto source = static_cast<std::size_t>((o * kChannels + c) * 9 + kOrder[f] * 3 + t);
          expect_split(at(0), at(1), weights[source] * kScale);
        }
}

}  // namespace
}  // namespace diarist::test
