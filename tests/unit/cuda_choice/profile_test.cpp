// Arithmetic of the per-layer profile, against the figures of the layer table in spec and design.

#include "backend/cuda/choice/profile.hpp"

#include <gtest/gtest.h>

#include <set>

#include "trunks.hpp"

namespace diarist::backend::cuda {
namespace {

const LaunchCost& cost_of(const std::vector<ChosenLaunch>& launches, std::size_t leader) {
  for (const ChosenLaunch& launch : launches)
    if (launch.leader == static_cast<int>(leader)) return launch.cost;
  static const LaunchCost none;
  ADD_FAILURE() << "no launch of layer " << leader;
  return none;
}

TEST(Profile, CountsMultiplicationsAndAdditions) {
  EXPECT_DOUBLE_EQ(conv_flops({64, 64, 9, 1, 1, 40, 499}), 2.0 * 64 * 64 * 9 * 40 * 499);
  EXPECT_DOUBLE_EQ(conv_flops({64, 128, 9, 2, 2, 40, 499}), 2.0 * 64 * 128 * 9 * 20 * 250);
  EXPECT_DOUBLE_EQ(conv_flops({64, 128, 1, 2, 2, 40, 499}), 2.0 * 64 * 128 * 20 * 250);
}

TEST(Profile, EveryLayerIsInOneLaunch) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  double wanted = 0;
  for (const ConvLayer& layer : layers) wanted += conv_flops(layer.shape) * 128;
  for (const Mode mode : {Mode::kExact, Mode::kFast}) {
    const TrunkChoice choice = choose_trunk(kH200, layers, {.mode = mode, .items = 128});
    const std::vector<ChosenLaunch> launches = launches_of(layers, choice, mode, 128);
    EXPECT_EQ(launches.size(), mode == Mode::kFast ? 31U : 36U);
    std::set<int> met;
    double flops = 0;
    for (const ChosenLaunch& launch : launches) {
      for (const int layer : launch.layers) EXPECT_TRUE(met.insert(layer).second);
      flops += launch.cost.flops;
    }
    EXPECT_EQ(met.size(), layers.size());
    EXPECT_DOUBLE_EQ(flops, wanted);
  }
}

// Milliseconds at batch 132 in the layer table of the design: measured ceilings of an H200.
TEST(Profile, FloorsOfTheDesign) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  const ChoiceOptions options{.items = 132};
  const TrunkChoice fused = choose_trunk(kH200, layers, options);
  const std::vector<ChosenLaunch> launches = launches_of(layers, fused, Mode::kFast, 132);
  const DevicePeaks peaks = known_peaks(kH200);
  const auto floor = [&](const char* name) {
    const LaunchCost& cost = cost_of(launches, layer_index(layers, name));
    return profile_row(name, "", cost, 1, peaks.half_flops, peaks.bytes);
  };
  EXPECT_NEAR(floor("resnet.layer1.1.conv2").floor_ms, 0.509, 0.01);  // a whole block
  EXPECT_FALSE(floor("resnet.layer1.1.conv2").memory_bound);
  EXPECT_NEAR(floor("resnet.layer2.1.conv1").floor_ms, 0.254, 0.005);
  EXPECT_NEAR(floor("resnet.layer2.1.conv2").floor_ms, 0.254, 0.005);
  EXPECT_NEAR(floor("resnet.layer3.1.conv1").floor_ms, 0.255, 0.005);
  EXPECT_NEAR(floor("resnet.layer4.1.conv2").floor_ms, 0.255, 0.005);
  EXPECT_NEAR(floor("resnet.layer4.0.conv1").floor_ms, 0.127, 0.005);
  const TrunkChoice plain =
      choose_trunk(kH200, layers, {.family = Family::kPortable, .items = 132});
  const std::vector<ChosenLaunch> singles = launches_of(layers, plain, Mode::kFast, 132);
  const auto single = [&](const char* name) {
    const LaunchCost& cost = cost_of(singles, layer_index(layers, name));
    return profile_row(name, "", cost, 1, peaks.half_flops, peaks.bytes);
  };
  EXPECT_NEAR(single("resnet.layer1.1.conv1").floor_ms, 0.320, 0.005);
  EXPECT_TRUE(single("resnet.layer1.1.conv1").memory_bound);
  EXPECT_NEAR(single("resnet.layer1.1.conv2").floor_ms, 0.479, 0.005);
}

TEST(Profile, SplitHalvesCostThreeProducts) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  const TrunkChoice exact = choose_trunk(kH200, layers, {.mode = Mode::kExact, .items = 8});
  const std::vector<ChosenLaunch> launches = launches_of(layers, exact, Mode::kExact, 8);
  const std::size_t wide = layer_index(layers, "resnet.layer3.1.conv1");
  EXPECT_EQ(cost_of(launches, wide).products, 3);
  EXPECT_EQ(cost_of(launches, 0).products, 3);
  const DevicePeaks peaks = known_peaks(kH200);
  const LayerProfile row =
      profile_row("", "", cost_of(launches, wide), 1, peaks.half_flops, peaks.bytes);
  EXPECT_NEAR(row.floor_ms, 3 * conv_flops(layers[wide].shape) * 8 / 764e12 * 1e3, 1e-9);
}

TEST(Profile, RowsSayRatesAndDistance) {
  const LaunchCost cost{2e12, 1, 4e9};
  const LayerProfile row = profile_row("a", "k", cost, 10, 1e15, 1e12);
  EXPECT_DOUBLE_EQ(row.floor_ms, 4);
  EXPECT_TRUE(row.memory_bound);
  EXPECT_DOUBLE_EQ(row.teraflops(), 200);
  EXPECT_DOUBLE_EQ(row.gigabytes_per_second(), 400);
  EXPECT_DOUBLE_EQ(row.times_floor(), 2.5);
  EXPECT_EQ(profile_row("a", "k", cost, 10, 0, 0).times_floor(), 0);  // unknown device: no floor
}

TEST(Profile, RowsOfATrunkNameTheirLayers) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  const TrunkChoice choice = choose_trunk(kH200, layers, {.items = 4});
  const std::vector<double> times(launches_of(layers, choice, Mode::kFast, 4).size(), 0.5);
  const std::vector<LayerProfile> rows =
      profile_rows(layers, choice, Mode::kFast, 4, times, known_peaks(kH200));
  EXPECT_EQ(rows[0].layers, "resnet.conv1");
  EXPECT_EQ(rows[0].kernel, "stem_mma");
  EXPECT_EQ(rows[4].layers, "resnet.layer2.0.conv1 + resnet.layer2.0.shortcut.0");
  EXPECT_THROW(profile_rows(layers, choice, Mode::kFast, 4, {}, known_peaks(kH200)),
               std::exception);
}

TEST(Profile, PeaksAreThoseOfTheNamedDevice) {
  for (const DeviceFacts& device : {kT4, kA100, kRtx3090, kRtx4090, kL4, kH100, kH200, kRtx5090}) {
    EXPECT_GT(known_peaks(device).half_flops, 0) << device.name;
    EXPECT_GT(known_peaks(device).bytes, 0) << device.name;
  }
  EXPECT_LT(known_peaks(kL4).bytes, known_peaks(kT4).bytes);
  EXPECT_EQ(known_peaks({"NVIDIA L40S", 89, 142, 101376}).bytes, 0);
}

TEST(Profile, PoolingReadsTheMapOnce) {
  const LaunchCost cost = pooling_cost(256, 10, 125, MapFormat::kHalf, 3, 589, 10);
  EXPECT_DOUBLE_EQ(cost.bytes,
                   256.0 * 10 * 125 * 2 * 10 + 4.0 * 3 * 589 * 10 + 3 * 2 * 256.0 * 10 * 4 * 10);
  EXPECT_DOUBLE_EQ(head_cost(5120, 256, 30).flops, 2.0 * 5120 * 256 * 30);
}

}  // namespace
}  // namespace diarist::backend::cuda
