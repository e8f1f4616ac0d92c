// The FP32 kernels that recompute chunks out of a half's range, against plain loops in doubles.

#include <cstdio>

#include "backend/cuda/kernels/conv_ffma.hpp"
#include "kernel_arrays.hpp"

namespace diarist::test {
namespace {

using namespace backend::cuda;

struct FfmaResult {
  cudaError_t error = cudaSuccess;
  std::vector<float> map;
  std::vector<std::uint32_t> range;
};

FfmaResult run_conv(const PlainConv& conv, const std::vector<float>& input,
                    const std::vector<float>& weight, const std::vector<float>& bias,
                    const std::vector<float>& residual) {
  const GuardedArray<float> x(input),
      w(pack_ffma_weights(weight.data(), conv.cout, conv.cin, conv.taps)), b(bias), r(residual),
      y(conv.outputs());
  const GuardedArray<std::uint32_t> range(
      std::vector<std::uint32_t>(static_cast<std::size_t>(conv.items), 0));
  ConvFfmaArgs args;
  args.input = x.data();
  args.weights = w.data();
  args.bias = b.data();
  args.residual = residual.empty() ? nullptr : r.data();
  args.output = y.data();
  args.items = conv.items;
  args.in_f = conv.in_f;
  args.in_t = conv.in_t;
  args.out_f = conv.out_f();
  args.out_t = conv.out_t();
  args.cin = conv.cin;
  args.cout = conv.cout;
  args.relu = conv.relu;
  args.range = range.data();
  FfmaResult result;
  result.error = launch_conv_ffma({conv.taps, conv.stride, conv.stride}, args, nullptr);
  if (result.error != cudaSuccess) return result;
  result.map = y.values();
  result.range = range.values();
  return result;
}

std::vector<double> doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

TEST(ConvFfma, AgreesWithDoublesAtAnyMagnitude) {
  DIARIST_NEED_CUDA();
  const std::vector<PlainConv> layers = {
      {.cin = 32, .cout = 32, .in_f = 7, .in_t = 131, .items = 3},
      {.cin = 64, .cout = 64, .in_f = 5, .in_t = 67, .items = 1, .relu = false},
      {.cin = 128, .cout = 128, .in_f = 3, .in_t = 33, .items = 3},
      {.cin = 256, .cout = 256, .in_f = 2, .in_t = 125, .items = 1},
      {.stride = 2, .cin = 32, .cout = 64, .in_f = 7, .in_t = 131, .items = 3},
      {.stride = 2, .cin = 128, .cout = 256, .in_f = 4, .in_t = 66, .items = 1},
      {.taps = 1, .stride = 2, .cin = 64, .cout = 128, .in_f = 5, .in_t = 35, .items = 3}};
  for (const PlainConv& conv : layers)
    for (const float magnitude : {1e-6F, 1.0F, 1e6F, 1e30F}) {
      const std::vector<float> input = random_floats(conv.inputs(), -magnitude, 2 * magnitude, 1);
      const std::vector<float> weight = random_floats(conv.weights(), -0.2F, 0.2F, 2);
      const std::vector<float> bias =
          random_floats(static_cast<std::size_t>(conv.cout), -magnitude, magnitude, 3);
      const std::vector<float> residual = random_floats(conv.outputs(), -magnitude, magnitude, 4);
      const FfmaResult result = run_conv(conv, input, weight, bias, residual);
      ASSERT_EQ(result.error, cudaSuccess) << cudaGetErrorString(result.error);
      const double error = relative_error(
          result.map, conv.run(doubles(input), doubles(weight), bias, doubles(residual)));
      std::printf("[          ] conv_ffma %3d -> %3d magnitude %.0e error %.2e\n", conv.cin,
                  conv.cout, static_cast<double>(magnitude), error);
      EXPECT_LT(error, 4e-6);
      EXPECT_EQ(result.range, std::vector<std::uint32_t>(result.range.size(), 0));
    }
}

TEST(ConvFfma, AnItemThatIsNotFiniteIsMarked) {
  DIARIST_NEED_CUDA();
  const PlainConv conv{.cin = 32, .cout = 32, .in_f = 5, .in_t = 37, .items = 3};
  std::vector<float> input = random_floats(conv.inputs(), 0, 1, 1);
  input[2 * input.size() / 3 - 1] = 3e38F;
  const std::vector<float> weight(conv.weights(), 2.0F), bias(32, 0.0F);
  const FfmaResult result = run_conv(conv, input, weight, bias, {});
  ASSERT_EQ(result.error, cudaSuccess);
  EXPECT_EQ(result.range, (std::vector<std::uint32_t>{0, 1, 0}));
}

TEST(StemFfma, AgreesWithDoubles) {
  DIARIST_NEED_CUDA();
  constexpr int kTime = 37, kItems = 3, kStride = kTime * 80 + 5;
  const std::vector<float> rows = random_floats(kItems * kStride, -9, 9, 1);
  const std::vector<float> means = random_floats(kItems * 80, -1, 1, 2);
  const std::vector<float> weights = random_floats(9 * 32, -0.5F, 0.5F, 3);
  const std::vector<float> bias = random_floats(32, -1, 1, 4);
  const PlainConv conv{.cin = 1, .cout = 32, .in_f = 80, .in_t = kTime, .items = kItems};
  std::vector<double> image(conv.inputs()), plain(conv.weights());
  for (int item = 0; item < kItems; ++item)
    for (int band = 0; band < 80; ++band)
      for (int t = 0; t < kTime; ++t)
        image[static_cast<std::size_t>((item * 80 + band) * kTime + t)] =
            double{rows[static_cast<std::size_t>(item * kStride + t * 80 + band)]} -
            double{means[static_cast<std::size_t>(item * 80 + band)]};
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i % 32 * 9 + i / 32] = double{weights[i]};

  const GuardedArray<float> x(rows), m(means), w(weights), b(bias), y(conv.outputs());
  const GuardedArray<std::uint32_t> range(std::vector<std::uint32_t>(kItems, 0));
  StemFfmaArgs args;
  args.rows = x.data();
  args.item_stride = kStride;
  args.means = m.data();
  args.weights = w.data();
  args.bias = b.data();
  args.output = y.data();
  args.items = kItems;
  args.time = kTime;
  args.range = range.data();
  DIARIST_CUDA_OK(launch_stem_ffma(args, nullptr));
  EXPECT_LT(relative_error(y.values(), conv.run(image, plain, bias, {})), 1e-6);
  EXPECT_EQ(range.values(), std::vector<std::uint32_t>(kItems, 0));
}

TEST(MaskedPoolFfma, AgreesWithDoublesAtAnyMagnitude) {
  DIARIST_NEED_CUDA();
  constexpr int kItems = 2, kSpeakers = 3, kFrames = 589, kF = 3, kTime = 125, kChannels = 64;
  constexpr int kRows = kChannels * kF;
  std::vector<float> masks(kItems * kSpeakers * kFrames);
  for (std::size_t i = 0; i < masks.size(); ++i)
    masks[i] = i / kFrames % 3 == 0   ? 1.0F
               : i / kFrames % 3 == 1 ? (i % 7 < 3 ? 0.5F : 0.0F)
                                      : 0.0F;
  for (const float magnitude : {1.0F, 1e5F, 1e30F}) {
    const std::vector<float> map =
        random_floats(std::size_t{kItems} * kF * kTime * kChannels, 0, magnitude, 5);
    std::vector<double> wanted(std::size_t{kItems} * kSpeakers * 2 * kRows);
    for (int item = 0; item < kItems; ++item)
      for (int s = 0; s < kSpeakers; ++s)
        for (int f = 0; f < kF; ++f)
          for (int c = 0; c < kChannels; ++c) {
            const auto x = [&](int t) {
              return double{
                  map[static_cast<std::size_t>(((item * kF + f) * kTime + t) * kChannels + c)]};
            };
            const auto w = [&](int t) {
              return double{masks[static_cast<std::size_t>((item * kSpeakers + s) * kFrames +
                                                           t * kFrames / kTime)]};
            };
            double v1 = 1e-8, v2 = 0, mean = 0, variance = 0;
            for (int t = 0; t < kTime; ++t) {
              v1 += w(t);
              v2 += w(t) * w(t);
              mean += w(t) * x(t);
            }
            mean /= v1;
            for (int t = 0; t < kTime; ++t) variance += w(t) * (x(t) - mean) * (x(t) - mean);
            variance /= v1 - v2 / v1 + 1e-8;
            double* out = &wanted[static_cast<std::size_t>((item * kSpeakers + s) * 2 * kRows)];
            out[c * kF + f] = mean;
            out[kRows + c * kF + f] = std::sqrt(variance);
          }
    const GuardedArray<float> x(map), m(masks), y(wanted.size());
    const GuardedArray<std::uint32_t> range(std::vector<std::uint32_t>(kItems, 0));
    PoolFfmaArgs args;
    args.map = x.data();
    args.masks = m.data();
    args.mask_stride = kSpeakers * kFrames;
    args.statistics = y.data();
    args.items = kItems;
    args.speakers = kSpeakers;
    args.mask_frames = kFrames;
    args.frequency = kF;
    args.time = kTime;
    args.channels = kChannels;
    args.range = range.data();
    DIARIST_CUDA_OK(launch_masked_pool_ffma(args, nullptr));
    EXPECT_LT(relative_error(y.values(), wanted), 2e-6) << magnitude;
    EXPECT_EQ(range.values(), std::vector<std::uint32_t>(kItems, 0));
  }
}

TEST(MapTapFfma, TurnsTheMap) {
  DIARIST_NEED_CUDA();
  constexpr int kItems = 2, kChannels = 32, kF = 3, kTime = 101, kSize = kChannels * kF * kTime;
  const std::vector<float> map = random_floats(kItems * kSize, -1, 1, 6);
  std::vector<float> wanted(map.size());
  for (int i = 0; i < kItems * kSize; ++i) {
    const int item = i / kSize, channel = i % kChannels, pixel = i / kChannels % (kF * kTime);
    wanted[static_cast<std::size_t>(item * kSize + channel * kF * kTime + pixel)] =
        map[static_cast<std::size_t>(i)];
  }
  const GuardedArray<float> x(map), y(map.size());
  TapFfmaArgs args;
  args.map = x.data();
  args.output = y.data();
  args.item_stride = kSize;
  args.items = kItems;
  args.channels = kChannels;
  args.frequency = kF;
  args.time = kTime;
  DIARIST_CUDA_OK(launch_map_tap_ffma(args, nullptr));
  EXPECT_EQ(y.values(), wanted);
}

}  // namespace
}  // namespace diarist::test
