// Every tile of the portable convolution, in both precisions, against a plain loop in doubles.

#include <cstdio>
#include <string>

#include "backend/cuda/kernels/conv.hpp"
#include "backend/cuda/kernels/conv_mma_tiles.hpp"
#include "kernel_arrays.hpp"

namespace diarist::test {
namespace {

using namespace backend::cuda;

// Inputs of one check, and what the arithmetic in doubles makes of them.
struct Layer {
  PlainConv conv;
  bool split = false;
  std::vector<std::uint16_t> input, residual, weights;
  std::vector<float> bias;
  float scale = 1;
  std::vector<double> wanted;
};

Layer make_layer(const PlainConv& conv, bool split, bool with_residual) {
  Layer layer;
  layer.conv = conv;
  layer.split = split;
  layer.input = to_half_map(random_floats(conv.inputs(), -1, 2, 1), conv.cin, split);
  if (with_residual)
    layer.residual = to_half_map(random_floats(conv.outputs(), -3, 3, 2), conv.cout, split);
  layer.bias = random_floats(static_cast<std::size_t>(conv.cout), -1, 1, 3);
  const std::vector<float> weight = random_floats(conv.weights(), -0.2F, 0.2F, 4);
  layer.scale = conv_weight_scale(weight.data(), weight.size());
  layer.weights =
      pack_conv_weights(weight.data(), conv.cout, conv.cin, conv.taps, split, layer.scale);
  // The weights as the kernel has them, so that the error is the kernel's own.
  std::vector<double> rounded;
  for (const float w : weight)
    rounded.push_back(split ? double{w}
                            : double{__half2float(__float2half_rn(w * layer.scale))} /
                                  double{layer.scale});
  layer.wanted = conv.run(from_half_map(layer.input, conv.cin, split), rounded, layer.bias,
                          from_half_map(layer.residual, conv.cout, split));
  return layer;
}

// Items first .. first + items - 1 of a layer through one tile: the map, and the range words.
struct Result {
  cudaError_t error = cudaSuccess;
  std::vector<std::uint16_t> map;
  std::vector<std::uint32_t> range;
};

Result run_tile(const Layer& layer, int tile, int first, int items) {
  ConvDevice device;
  Result result;
  result.error = query_conv_device(&device);
  if (result.error != cudaSuccess) return result;
  const PlainConv& conv = layer.conv;
  const std::size_t parts = layer.split ? 2 : 1;
  const std::size_t item_in = conv.inputs() / static_cast<std::size_t>(conv.items) * parts;
  const std::size_t item_out = conv.outputs() / static_cast<std::size_t>(conv.items) * parts;
  const auto part_of = [&](const std::vector<std::uint16_t>& all, std::size_t item) {
    const auto begin =
        all.begin() + static_cast<std::ptrdiff_t>(item * static_cast<std::size_t>(first));
    return std::vector<std::uint16_t>(
        begin, begin + static_cast<std::ptrdiff_t>(item * static_cast<std::size_t>(items)));
  };
  const GuardedArray<std::uint16_t> input(part_of(layer.input, item_in));
  const GuardedArray<std::uint16_t> residual(
      layer.residual.empty() ? std::vector<std::uint16_t>{} : part_of(layer.residual, item_out));
  const GuardedArray<std::uint16_t> weights(layer.weights);
  const GuardedArray<float> bias(layer.bias);
  const GuardedArray<std::uint16_t> output(item_out * static_cast<std::size_t>(items));
  const GuardedArray<std::uint32_t> range(
      std::vector<std::uint32_t>(static_cast<std::size_t>(items), 0));
  ConvArgs args;
  args.input = reinterpret_cast<const __half*>(input.data());
  args.weights = reinterpret_cast<const __half*>(weights.data());
  args.bias = bias.data();
  args.residual =
      layer.residual.empty() ? nullptr : reinterpret_cast<const __half*>(residual.data());
  args.output = reinterpret_cast<__half*>(output.data());
  args.items = items;
  args.in_f = conv.in_f;
  args.in_t = conv.in_t;
  args.out_f = conv.out_f();
  args.out_t = conv.out_t();
  args.cin = conv.cin;
  args.cout = conv.cout;
  args.unscale = 1 / layer.scale;
  args.relu = conv.relu;
  args.range = range.data();
  result.error = launch_conv_mma_tile(tile, device, layer.split, args, nullptr);
  if (result.error != cudaSuccess) return result;
  result.map = output.values();
  result.range = range.values();
  return result;
}

std::vector<int> tiles_for(const Layer& layer) {
  ConvDevice device;
  EXPECT_EQ(query_conv_device(&device), cudaSuccess);
  std::vector<int> tiles;
  const ConvShape shape{layer.conv.taps, layer.conv.stride, layer.conv.stride};
  int tile = -1;
  while ((tile = choose_conv_mma(shape, layer.split, layer.conv.cin, layer.conv.cout,
                                 device.shared_per_block, tile)) >= 0)
    tiles.push_back(tile);
  return tiles;
}

class ConvMma : public testing::TestWithParam<bool> {};

std::vector<PlainConv> odd_layers() {
  return {
      {.cin = 32, .cout = 32, .in_f = 13, .in_t = 131, .items = 3},
      {.cin = 32, .cout = 32, .in_f = 1, .in_t = 1, .items = 1, .relu = false},
      {.cin = 32, .cout = 64, .in_f = 9, .in_t = 33, .items = 1},
      {.cin = 64, .cout = 64, .in_f = 11, .in_t = 67, .items = 3, .relu = false},
      {.cin = 64, .cout = 64, .in_f = 40, .in_t = 65, .items = 1},
      {.cin = 128, .cout = 128, .in_f = 7, .in_t = 67, .items = 3},
      {.cin = 256, .cout = 256, .in_f = 10, .in_t = 125, .items = 1},
      {.stride = 2, .cin = 32, .cout = 64, .in_f = 13, .in_t = 131, .items = 3},
      {.stride = 2, .cin = 64, .cout = 128, .in_f = 12, .in_t = 130, .items = 1, .relu = false},
      {.stride = 2, .cin = 128, .cout = 256, .in_f = 21, .in_t = 67, .items = 3},
      {.stride = 2, .cin = 64, .cout = 128, .in_f = 1, .in_t = 2, .items = 1},
      {.taps = 1,
       .stride = 2,
       .cin = 32,
       .cout = 64,
       .in_f = 13,
       .in_t = 131,
       .items = 3,
       .relu = false},
      {.taps = 1,
       .stride = 2,
       .cin = 64,
       .cout = 128,
       .in_f = 12,
       .in_t = 130,
       .items = 1,
       .relu = false},
      {.taps = 1,
       .stride = 2,
       .cin = 128,
       .cout = 256,
       .in_f = 20,
       .in_t = 250,
       .items = 1,
       .relu = false},
  };
}

// The bits do not depend on the tile either, so every tile is held against the first one.
TEST_P(ConvMma, EveryTileAgreesWithDoublesAndWithTheOthers) {
  DIARIST_NEED_CUDA();
  DIARIST_CUDA_OK(prepare_conv_mma());
  for (const PlainConv& conv : odd_layers())
    for (const bool with_residual : {false, true}) {
      const Layer layer = make_layer(conv, GetParam(), with_residual);
      const std::vector<int> tiles = tiles_for(layer);
      ASSERT_FALSE(tiles.empty());
      Result reference;
      for (const int tile : tiles) {
        SCOPED_TRACE(kConvMmaTiles[tile].name);
        const Result result = run_tile(layer, tile, 0, conv.items);
        ASSERT_EQ(result.error, cudaSuccess) << cudaGetErrorString(result.error);
        const double error =
            relative_error(from_half_map(result.map, conv.cout, layer.split), layer.wanted);
        std::printf("[          ] %-22s %3d -> %3d  %2d x %3d  items %d %-8s error %.2e\n",
                    kConvMmaTiles[tile].name, conv.cin, conv.cout, conv.in_f, conv.in_t, conv.items,
                    with_residual ? "residual" : "", error);
        EXPECT_LT(error, GetParam() ? 2e-5 : 6e-4);
        EXPECT_EQ(result.range, std::vector<std::uint32_t>(result.range.size(), 0));
        if (reference.map.empty()) reference = result;
        EXPECT_EQ(result.map, reference.map) << "bits differ from the first tile's";
      }
    }
}

TEST_P(ConvMma, AnItemDoesNotDependOnItsBatch) {
  DIARIST_NEED_CUDA();
  DIARIST_CUDA_OK(prepare_conv_mma());
  for (const PlainConv& conv : odd_layers()) {
    if (conv.items == 1) continue;
    const Layer layer = make_layer(conv, GetParam(), true);
    for (const int tile : tiles_for(layer)) {
      SCOPED_TRACE(kConvMmaTiles[tile].name);
      const Result all = run_tile(layer, tile, 0, conv.items), last = run_tile(layer, tile, 2, 1);
      ASSERT_EQ(all.error, cudaSuccess);
      ASSERT_EQ(last.error, cudaSuccess);
      EXPECT_TRUE(std::equal(last.map.begin(), last.map.end(),
                             all.map.end() - static_cast<std::ptrdiff_t>(last.map.size())));
    }
  }
}

// A CTA walks over several works only when there are more of them than CTAs fit.
TEST_P(ConvMma, ManyItemsPerCta) {
  DIARIST_NEED_CUDA();
  DIARIST_CUDA_OK(prepare_conv_mma());
  const std::vector<PlainConv> layers = {
      {.cin = 32, .cout = 32, .in_f = 3, .in_t = 9, .items = 700},
      {.cin = 64, .cout = 64, .in_f = 3, .in_t = 5, .items = 700},
      {.stride = 2, .cin = 64, .cout = 128, .in_f = 3, .in_t = 5, .items = 600},
      {.taps = 1, .stride = 2, .cin = 32, .cout = 64, .in_f = 5, .in_t = 9, .items = 700}};
  for (const PlainConv& conv : layers) {
    const Layer layer = make_layer(conv, GetParam(), true);
    for (const int tile : tiles_for(layer)) {
      SCOPED_TRACE(kConvMmaTiles[tile].name);
      const Result result = run_tile(layer, tile, 0, conv.items);
      ASSERT_EQ(result.error, cudaSuccess);
      EXPECT_LT(relative_error(from_half_map(result.map, conv.cout, layer.split), layer.wanted),
                GetParam() ? 2e-5 : 6e-4);
    }
  }
}

TEST_P(ConvMma, OnlyTheItemOutOfRangeIsMarked) {
  DIARIST_NEED_CUDA();
  DIARIST_CUDA_OK(prepare_conv_mma());
  PlainConv conv{.cin = 64, .cout = 64, .in_f = 5, .in_t = 37, .items = 3};
  Layer layer = make_layer(conv, GetParam(), false);
  std::vector<float> input = random_floats(conv.inputs(), -1, 2, 1);
  for (std::size_t i = input.size() / 3; i < 2 * input.size() / 3; ++i) input[i] *= 30000;
  layer.input = to_half_map(input, conv.cin, layer.split);
  for (const int tile : tiles_for(layer)) {
    SCOPED_TRACE(kConvMmaTiles[tile].name);
    const Result result = run_tile(layer, tile, 0, 3);
    ASSERT_EQ(result.error, cudaSuccess);
    EXPECT_EQ(result.range, (std::vector<std::uint32_t>{0, 1, 0}));
    for (const double value : from_half_map(result.map, conv.cout, layer.split))
      ASSERT_TRUE(std::isfinite(value)) << "the map is not clamped";
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, ConvMma, testing::Values(false, true),
                         [](const auto& param) { return param.param ? "exact" : "half"; });

TEST(ConvMmaTiles, SmallestOptInOfEveryGenerationHasATileForEachShape) {
  constexpr int kTuring = 64 * 1024;
  for (const bool split : {false, true})
    for (const int channels : {32, 64, 128, 256}) {
      EXPECT_GE(choose_conv_mma({9, 1, 1}, split, channels, channels, kTuring), 0) << channels;
      if (channels == 256) continue;
      EXPECT_GE(choose_conv_mma({9, 2, 2}, split, channels, 2 * channels, kTuring), 0) << channels;
      EXPECT_GE(choose_conv_mma({1, 2, 2}, split, channels, 2 * channels, kTuring), 0) << channels;
    }
  EXPECT_EQ(choose_conv_mma({9, 2, 1}, false, 64, 64, kTuring), -1);
}

}  // namespace
}  // namespace diarist::test
