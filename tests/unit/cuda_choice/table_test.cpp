// The choice function, frozen: what runs each of the eleven distinct convolutions of ResNet34 on
// each device at batch 128. A change of a line here is a change of what users run and wants a
// reason.

#include <gtest/gtest.h>

#include "backend/cuda/kernels/conv_mma_tiles.hpp"
#include "trunks.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr std::size_t kShapes = 11;

struct Row {
  const DeviceFacts& device;
  Mode mode;
  /// Stem; 32; 32 to 64 and its shortcut; 64; 64 to 128 and its shortcut; 128; 128 to 256 and its
  /// shortcut; 256.
  const char* kernels[kShapes];
};

// clang-format off
const Row kTable[] = {
    {kT4, Mode::kExact,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
    {kT4, Mode::kFast,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
    {kA100, Mode::kExact,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
    {kA100, Mode::kFast,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
    {kRtx3090, Mode::kExact,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
    {kRtx3090, Mode::kFast,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
    {kRtx4090, Mode::kExact,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
    {kRtx4090, Mode::kFast,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
    {kL4, Mode::kExact,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
    {kL4, Mode::kFast,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
    {kH100, Mode::kExact,
     {"stem_mma", "conv_walk", "conv_stride", "conv_mma", "conv_tile", "conv_stride", "conv_mma", "conv_tile", "conv_stride", "conv_mma", "conv_tile"}},
    {kH100, Mode::kFast,
     {"stem_mma", "block_walk", "conv_down", "conv_down", "conv_walk", "conv_down", "conv_down", "conv_tile", "conv_stride", "conv_mma", "conv_tile"}},
    {kH200, Mode::kExact,
     {"stem_mma", "conv_walk", "conv_stride", "conv_mma", "conv_tile", "conv_stride", "conv_mma", "conv_tile", "conv_stride", "conv_mma", "conv_tile"}},
    {kH200, Mode::kFast,
     {"stem_mma", "block_walk", "conv_down", "conv_down", "conv_walk", "conv_down", "conv_down", "conv_tile", "conv_stride", "conv_mma", "conv_tile"}},
    {kRtx5090, Mode::kExact,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
    {kRtx5090, Mode::kFast,
     {"stem_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma", "conv_mma"}},
};
// clang-format on

// Column of the table in which a layer's shape stands.
std::size_t column_of(const LayerShape& s) {
  if (s.stem()) return 0;
  std::size_t column = 1;
  for (int channels = 32; channels < s.cout; channels *= 2) column += 3;
  if (s.stride_f == 1) return column;
  return s.taps == 9 ? column - 2 : column - 1;
}

TEST(ChoiceTable, IsFrozen) {
  ASSERT_EQ(std::size(kTable), 16U);
  const std::vector<ConvLayer> layers = resnet34_trunk();
  ASSERT_EQ(layers.size(), 36U);
  for (const Row& row : kTable) {
    const TrunkChoice choice = choose_trunk(row.device, layers, {.mode = row.mode, .items = 128});
    for (std::size_t i = 0; i < layers.size(); ++i) {
      EXPECT_STREQ(kernel_name(choice.layers[i].kernel), row.kernels[column_of(layers[i].shape)])
          << row.device.name << ", " << mode_name(row.mode) << ", " << layers[i].name;
      EXPECT_FALSE(choice.layers[i].reason.empty());
    }
  }
}

// Output channels of the portable family's tiles for the four sizes of shared memory: 64 KB, 99 KB,
// 163 KB, 227 KB. Which of the tiles of that width it is, the order of kConvMmaTiles says.
struct TileRow {
  const DeviceFacts& device;
  Mode mode;
  int channels[kShapes - 1];  // columns of Row without the stem
};

// clang-format off
const TileRow kTiles[] = {
    {kT4, Mode::kExact, {32, 64, 64, 64, 64, 64, 64, 64, 64, 64}},
    {kT4, Mode::kFast, {32, 64, 64, 64, 64, 64, 64, 64, 64, 64}},
    {kRtx3090, Mode::kExact, {32, 64, 64, 64, 64, 128, 128, 64, 128, 128}},
    {kRtx3090, Mode::kFast, {32, 64, 64, 64, 64, 128, 128, 64, 128, 128}},
    {kA100, Mode::kExact, {32, 64, 64, 64, 128, 128, 128, 128, 128, 128}},
    {kA100, Mode::kFast, {32, 64, 64, 64, 128, 128, 128, 128, 128, 128}},
    {kH200, Mode::kExact, {32, 64, 64, 64, 128, 128, 128, 128, 128, 128}},
    {kH200, Mode::kFast, {32, 64, 64, 64, 128, 128, 128, 128, 128, 128}},
};
// clang-format on

TEST(ChoiceTable, WidthsOfTilesAreFrozen) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  for (const TileRow& row : kTiles) {
    const TrunkChoice choice = choose_trunk(
        row.device, layers, {.mode = row.mode, .family = Family::kPortable, .items = 128});
    for (std::size_t i = 1; i < layers.size(); ++i)
      EXPECT_EQ(kConvMmaTiles[choice.layers[i].variant].cout,
                row.channels[column_of(layers[i].shape) - 1])
          << row.device.name << ", " << mode_name(row.mode) << ", " << layers[i].name;
  }
}

TEST(ChoiceTable, EveryShapeIsMet) {
  std::vector<int> met(kShapes, 0);
  for (const ConvLayer& layer : resnet34_trunk()) ++met[column_of(layer.shape)];
  EXPECT_EQ(met, (std::vector<int>{1, 6, 1, 1, 7, 1, 1, 11, 1, 1, 5}));
}

}  // namespace
}  // namespace diarist::backend::cuda
