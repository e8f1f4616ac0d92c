// The range scan and the separate epilogue.

#include "backend/cuda/library/map_passes.hpp"

#include <limits>

#include "../cuda/kernel_arrays.hpp"

namespace diarist::backend::cuda {
namespace {

using test::from_half_map;
using test::GuardedArray;
using test::random_floats;
using test::relative_error;
using test::to_half_map;

constexpr int kItems = 3;
constexpr std::int64_t kValues = 32 * 77;

TEST(RangeScan, MarksTheItemThatHoldsAnInfinityOrNaN) {
  DIARIST_NEED_CUDA();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const bool halves : {true, false})
    for (const float bad : {infinity, -infinity, std::nanf("")})
      for (const std::int64_t place : {std::int64_t{0}, std::int64_t{1}, kValues - 1}) {
        std::vector<float> values = random_floats(kItems * kValues, -65504, 65504, 3);
        values[static_cast<std::size_t>(kValues + place)] = bad;
        const GuardedArray<float> floats(values);
        const GuardedArray<std::uint16_t> half_values(to_half_map(values, 32, false));
        const GuardedArray<std::uint32_t> range(std::vector<std::uint32_t>(kItems, 0));
        MapArgs args;
        args.halves = halves;
        args.map = halves ? static_cast<void*>(half_values.data()) : floats.data();
        args.items = kItems;
        args.values = kValues;
        DIARIST_CUDA_OK(launch_range_scan(args, range.data(), nullptr));
        EXPECT_EQ(range.values(), (std::vector<std::uint32_t>{0, 1, 0}));
      }
}

TEST(Epilogue, AddsBiasAndResidual) {
  DIARIST_NEED_CUDA();
  const std::vector<float> map = random_floats(kItems * kValues, -1, 1, 3);
  const std::vector<float> residual = random_floats(kItems * kValues, -1, 1, 4);
  const std::vector<float> bias = random_floats(32, -1, 1, 5);
  for (const bool relu : {true, false})
    for (const bool added : {true, false}) {
      std::vector<double> wanted;
      for (std::size_t i = 0; i < map.size(); ++i) {
        const double sum =
            double{map[i]} + double{bias[i % 32]} + (added ? double{residual[i]} : 0.0);
        wanted.push_back(relu ? std::max(sum, 0.0) : sum);
      }
      MapArgs args;
      args.items = kItems;
      args.values = kValues;
      {
        const GuardedArray<float> y(map), z(residual), b(bias);
        args.map = y.data();
        DIARIST_CUDA_OK(
            launch_epilogue(args, b.data(), added ? z.data() : nullptr, 32, relu, nullptr));
        EXPECT_LT(relative_error(y.values(), wanted), 1e-6);
      }
      const GuardedArray<std::uint16_t> y(to_half_map(map, 32, false));
      const GuardedArray<std::uint16_t> z(to_half_map(residual, 32, false));
      const GuardedArray<std::uint16_t> b(to_half_map(bias, 32, false));
      args.map = y.data();
      args.halves = true;
      DIARIST_CUDA_OK(
          launch_epilogue(args, b.data(), added ? z.data() : nullptr, 32, relu, nullptr));
      EXPECT_LT(relative_error(from_half_map(y.values(), 32, false), wanted), 2e-3);
    }
}

}  // namespace
}  // namespace diarist::backend::cuda
