// Rules of the choice function: order of sources, limits, forced families, fusions, batch classes.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "backend/cuda/kernels/conv_mma_tiles.hpp"
#include "diarist/error.hpp"
#include "trunks.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr Mode kModes[] = {Mode::kExact, Mode::kFast};

const DeviceFacts* const kDevices[] = {&kT4, &kA100, &kRtx3090, &kRtx4090,
                                       &kL4, &kH100, &kH200,    &kRtx5090};

const LayerChoice& find(const TrunkChoice& choice, const std::vector<ConvLayer>& layers,
                        const std::string& name) {
  return choice.layers.at(layer_index(layers, name));
}

MapFormat map_of(const TrunkChoice& choice, const std::vector<ConvLayer>& layers,
                 const std::string& name) {
  return choice.maps.at(static_cast<std::size_t>(layers.at(layer_index(layers, name)).output));
}

void expect_error(ErrorCode code, const std::vector<std::string>& words,
                  const std::function<void()>& body) {
  try {
    body();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& word : words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << word << " is not in: " << error.what();
  }
}

TEST(Choice, BatchMovesVariantsButNeverKernels) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  int moved = 0;
  for (const DeviceFacts* device : kDevices)
    for (const Mode mode : kModes) {
      const TrunkChoice large = choose_trunk(*device, layers, {.mode = mode, .items = 128});
      for (const int items : {1, 2, 4, 8, 16, 32, 64}) {
        const TrunkChoice small = choose_trunk(*device, layers, {.mode = mode, .items = items});
        EXPECT_EQ(small.maps, large.maps);
        for (std::size_t i = 0; i < layers.size(); ++i) {
          const LayerChoice &a = small.layers[i], &b = large.layers[i];
          EXPECT_EQ(a.kernel, b.kernel) << device->name << " " << layers[i].name;
          EXPECT_EQ(a.launched_by, b.launched_by);
          const std::vector<int> known = variants(*device, a.kernel, layers[i].shape, mode);
          EXPECT_NE(std::find(known.begin(), known.end(), a.variant), known.end()) << a.name;
          moved += a.variant != b.variant ? 1 : 0;
        }
      }
    }
  EXPECT_GT(moved, 0);  // small batches do get other tiles
}

TEST(Choice, OneChunkSpreadsOverTheDevice) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  const TrunkChoice one = choose_trunk(kH200, layers, {.items = 1});
  EXPECT_EQ(find(one, layers, "resnet.layer3.1.conv1").name, "conv_tile narrow");
  const auto works = [&](int items) {
    const TrunkChoice portable = choose_trunk(kA100, layers, {.items = items});
    const ConvMmaTile& tile =
        kConvMmaTiles[find(portable, layers, "resnet.layer4.1.conv1").variant];
    return (10 + tile.tile_rows() - 1) / tile.tile_rows() *
           ((125 + tile.columns() - 1) / tile.columns()) * (256 / tile.cout);
  };
  EXPECT_GT(works(1), works(128));
}

TEST(Choice, TilesFitTheDevice) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  for (const DeviceFacts* device : kDevices)
    for (const Mode mode : kModes)
      for (const int items : {1, 128})
        for (const ConvLayer& layer : layers) {
          if (layer.shape.stem()) continue;
          const LayerChoice choice = choose_layer(
              *device, layer, {.mode = mode, .family = Family::kPortable, .items = items});
          ASSERT_EQ(choice.kernel, KernelId::kConvMma) << device->name << " " << layer.name;
          const int slabs = layer.shape.cin / (mode == Mode::kExact ? 16 : 32);
          EXPECT_LE(kConvMmaTiles[choice.variant].shared_bytes(slabs), device->shared_bytes)
              << choice.name;
        }
}

TEST(Choice, FusesBlocksAndShortcuts) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  const TrunkChoice choice = choose_trunk(kH200, layers, {.items = 128});
  const int first = static_cast<int>(layer_index(layers, "resnet.layer1.0.conv2"));
  for (const char* name : {"resnet.layer1.0.conv1", "resnet.layer1.0.conv2"}) {
    EXPECT_EQ(find(choice, layers, name).kernel, KernelId::kBlockWalk) << name;
    EXPECT_EQ(find(choice, layers, name).launched_by, first) << name;
  }
  EXPECT_EQ(map_of(choice, layers, "resnet.conv1"), MapFormat::kHalf);
  EXPECT_EQ(map_of(choice, layers, "resnet.layer1.0.conv1"), MapFormat::kNone);
  EXPECT_EQ(map_of(choice, layers, "resnet.layer1.0.conv2"), MapFormat::kHalf);
  EXPECT_EQ(choice.beside(first), static_cast<int>(layer_index(layers, "resnet.layer1.0.conv1")));
  const int down = static_cast<int>(layer_index(layers, "resnet.layer2.0.conv1"));
  EXPECT_EQ(choice.beside(down),
            static_cast<int>(layer_index(layers, "resnet.layer2.0.shortcut.0")));
  EXPECT_EQ(choice.beside(0), -1);
  EXPECT_EQ(find(choice, layers, "resnet.layer2.0.shortcut.0").launched_by, down);
  EXPECT_EQ(map_of(choice, layers, "resnet.layer2.0.shortcut.0"), MapFormat::kHalf);
  const TrunkChoice exact = choose_trunk(kH200, layers, {.mode = Mode::kExact, .items = 128});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(exact.layers[i].launched_by, static_cast<int>(i));
    EXPECT_EQ(exact.maps[static_cast<std::size_t>(layers[i].output)], MapFormat::kSplit);
  }
}

TEST(Choice, HandedOutMapsAreNotFusedAway) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  const int hidden = layers[layer_index(layers, "resnet.layer1.1.conv1")].output;
  const int stem = layers[0].output;
  const std::vector<int> kept = {stem, hidden};
  const TrunkChoice choice = choose_trunk(kH200, layers, {.items = 128}, kept);
  EXPECT_EQ(find(choice, layers, "resnet.conv1").kernel, KernelId::kStemMma);
  EXPECT_EQ(map_of(choice, layers, "resnet.conv1"), MapFormat::kHalf);
  EXPECT_EQ(find(choice, layers, "resnet.layer1.0.conv1").kernel, KernelId::kBlockWalk);
  EXPECT_EQ(find(choice, layers, "resnet.layer1.1.conv1").kernel, KernelId::kConvMma);
  EXPECT_NE(find(choice, layers, "resnet.layer1.1.conv1").reason.find("block_walk not taken"),
            std::string::npos);
  EXPECT_EQ(map_of(choice, layers, "resnet.layer1.1.conv1"), MapFormat::kHalf);
}

TEST(Choice, RecipeIsForExactlyItsDevice) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  const ChoiceOptions options{.items = 128};
  const char* name = "resnet.layer2.1.conv1";
  EXPECT_EQ(find(choose_trunk(kH200, layers, options), layers, name).source, Source::kRecipe);
  DeviceFacts smaller = kH200;
  smaller.multiprocessors = 60;  // a slice of the card
  for (const DeviceFacts& device : {kH100, smaller})
    EXPECT_EQ(find(choose_trunk(device, layers, options), layers, name).source,
              Source::kClassDefault);
}

TEST(Choice, DeclaredLimitsMoveAChoiceWithTheReason) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  DeviceFacts device = kH100;
  device.shared_bytes = 101376;
  const TrunkChoice choice = choose_trunk(device, layers, {.items = 128});
  const LayerChoice& wide = find(choice, layers, "resnet.layer3.1.conv1");
  EXPECT_EQ(wide.kernel, KernelId::kConvMma);
  EXPECT_NE(wide.reason.find("conv_tile needs 232448 bytes of shared memory, the device gives "
                             "101376"),
            std::string::npos)
      << wide.reason;
  device.shared_bytes = 16384;
  const LayerChoice none = choose_layer(device, layers[8], {.mode = Mode::kExact, .items = 1});
  EXPECT_EQ(none.kernel, KernelId::kConvFfma);
  EXPECT_NE(none.reason.find("conv_mma has no tile that fits"), std::string::npos) << none.reason;
}

TEST(Choice, ForcedFamilies) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  for (const Mode mode : kModes) {
    const TrunkChoice portable =
        choose_trunk(kH200, layers, {.mode = mode, .family = Family::kPortable, .items = 128});
    const TrunkChoice fp32 =
        choose_trunk(kH200, layers, {.mode = mode, .family = Family::kFp32, .items = 128});
    const TrunkChoice library =
        choose_trunk(kH200, layers, {.mode = mode, .family = Family::kLibrary, .items = 128});
    for (std::size_t i = 1; i < layers.size(); ++i) {
      EXPECT_EQ(portable.layers[i].kernel, KernelId::kConvMma);
      EXPECT_EQ(portable.layers[i].source, Source::kForced);
      EXPECT_EQ(fp32.layers[i].kernel, KernelId::kConvFfma);
      EXPECT_EQ(fp32.maps[static_cast<std::size_t>(layers[i].output)], MapFormat::kFloat);
      EXPECT_EQ(library.layers[i].kernel, KernelId::kLibrary);
      EXPECT_EQ(library.maps[static_cast<std::size_t>(layers[i].output)],
                mode == Mode::kFast ? MapFormat::kHalf : MapFormat::kFloat);
    }
    EXPECT_EQ(portable.layers[0].kernel, KernelId::kStemMma);
    EXPECT_EQ(fp32.layers[0].kernel, KernelId::kStemFfma);
    const TrunkChoice hopper =
        choose_trunk(kH200, layers, {.mode = mode, .family = Family::kHopper, .items = 128});
    const TrunkChoice any = choose_trunk(kH200, layers, {.mode = mode, .items = 128});
    for (std::size_t i = 0; i < layers.size(); ++i)
      EXPECT_EQ(hopper.layers[i].name, any.layers[i].name);
  }
  expect_error(ErrorCode::kUnsupported, {"Hopper", "NVIDIA A100-SXM4-80GB", "sm_80"},
               [&] { choose_trunk(kA100, layers, {.family = Family::kHopper, .items = 1}); });
}

TEST(Choice, Tf32IsTheLibrary) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  const TrunkChoice choice = choose_trunk(kH200, layers, {.mode = Mode::kTf32, .items = 128});
  EXPECT_EQ(choice.layers[0].kernel, KernelId::kStemFfma);
  for (std::size_t i = 1; i < layers.size(); ++i) {
    EXPECT_EQ(choice.layers[i].kernel, KernelId::kLibrary);
    EXPECT_EQ(choice.layers[i].source, Source::kLibrary);
  }
}

TEST(Choice, KernelOnlyNamesLayerBatchAndDevice) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  for (const DeviceFacts* device : kDevices)
    for (const Mode mode : kModes)
      EXPECT_NO_THROW(
          choose_trunk(*device, layers, {.mode = mode, .kernel_only = true, .items = 128}));
  expect_error(
      ErrorCode::kUnsupported, {"resnet.layer1.0.conv1", "batch 32", "NVIDIA L4", "sm_89", "tf32"},
      [&] { choose_trunk(kL4, layers, {.mode = Mode::kTf32, .kernel_only = true, .items = 32}); });
  ConvLayer odd = layers[4];
  odd.name = "odd.conv";
  odd.shape.taps = 25;
  EXPECT_EQ(choose_layer(kH200, odd, {.items = 7}).kernel, KernelId::kLibrary);
  expect_error(ErrorCode::kUnsupported, {"odd.conv", "25 taps", "batch 7", "NVIDIA H200"},
               [&] { choose_layer(kH200, odd, {.kernel_only = true, .items = 7}); });
}

TEST(Choice, OldDevicesAreRefused) {
  const DeviceFacts v100{"Tesla V100", 70, 80, 98304};
  expect_error(ErrorCode::kUnsupported, {"Tesla V100", "sm_70", "sm_75"},
               [&] { choose_trunk(v100, resnet34_trunk(), {.items = 1}); });
}

TEST(Choice, WeightsBeyondTheHalfRangeNeverMeetHalfTiles) {
  std::vector<ConvLayer> layers = resnet34_trunk();
  layers[layer_index(layers, "resnet.layer1.1.conv2")].weights_exceed_half = true;
  layers[layer_index(layers, "resnet.layer2.0.shortcut.0")].weights_exceed_half = true;
  layers[layer_index(layers, "resnet.layer3.2.conv1")].weights_exceed_half = true;
  for (const DeviceFacts* device : kDevices)
    for (const Mode mode : kModes) {
      const TrunkChoice choice = choose_trunk(*device, layers, {.mode = mode, .items = 128});
      for (std::size_t i = 0; i < layers.size(); ++i) {
        if (!layers[i].weights_exceed_half) continue;
        EXPECT_EQ(choice.layers[i].kernel, KernelId::kConvFfma);
        EXPECT_NE(choice.layers[i].reason.find("beyond the range of a half"), std::string::npos);
      }
    }
  const TrunkChoice choice = choose_trunk(kH200, layers, {.items = 128});
  EXPECT_EQ(find(choice, layers, "resnet.layer1.1.conv1").kernel, KernelId::kConvMma);
  EXPECT_EQ(find(choice, layers, "resnet.layer2.0.conv1").kernel, KernelId::kConvMma);
  EXPECT_EQ(find(choice, layers, "resnet.layer1.0.conv1").kernel, KernelId::kBlockWalk);
}

TEST(Choice, TuneFileComesFirst) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  const ConvLayer& wide = layers[layer_index(layers, "resnet.layer3.1.conv1")];
  const std::vector<int> tiles = variants(kH200, KernelId::kConvMma, wide.shape, Mode::kFast);
  ASSERT_GE(tiles.size(), 2U);
  const std::vector<TuneEntry> tuned = {
      {wide.shape, Mode::kFast, 128, KernelId::kConvMma, tiles[0], 0.25},
      {wide.shape, Mode::kFast, 1, KernelId::kConvMma, tiles[1], 0.01}};
  const ChoiceOptions large{.items = 132, .tuned = tuned}, small{.items = 8, .tuned = tuned};
  const LayerChoice at_128 = choose_layer(kH200, wide, large);
  EXPECT_EQ(at_128.source, Source::kTuneFile);
  EXPECT_EQ(at_128.name, variant_name(KernelId::kConvMma, tiles[0]));
  EXPECT_NE(at_128.reason.find("0.2500 ms at batch 128"), std::string::npos) << at_128.reason;
  EXPECT_EQ(choose_layer(kH200, wide, small).name, variant_name(KernelId::kConvMma, tiles[1]));
  // Other modes and shapes are chosen as before.
  EXPECT_EQ(choose_layer(kH200, wide, {.mode = Mode::kExact, .items = 8, .tuned = tuned}).source,
            Source::kClassDefault);
  const std::vector<TuneEntry> library = {
      {wide.shape, Mode::kFast, 128, KernelId::kLibrary, 0, 0.2}};
  EXPECT_EQ(choose_layer(kH200, wide, {.items = 128, .tuned = library}).kernel, KernelId::kLibrary);
  const LayerChoice own =
      choose_layer(kH200, wide, {.kernel_only = true, .items = 128, .tuned = library});
  EXPECT_EQ(own.kernel, KernelId::kConvTile);
  EXPECT_NE(own.reason.find("not allowed in kernel-only mode"), std::string::npos);
  const std::vector<TuneEntry> wrong = {{wide.shape, Mode::kFast, 128, KernelId::kConvMma, 999, 1}};
  expect_error(ErrorCode::kInvalidArgument, {"variant 999", "diarist tune"},
               [&] { choose_layer(kH200, wide, {.items = 128, .tuned = wrong}); });
}

TEST(Choice, TuneFileMaySplitABlock) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  const LayerShape shape = layers[layer_index(layers, "resnet.layer1.1.conv1")].shape;
  const int tile = choose_variant(kH200, KernelId::kConvMma, shape, Mode::kFast, 128);
  const std::vector<TuneEntry> tuned = {{shape, Mode::kFast, 128, KernelId::kConvMma, tile, 0.4}};
  const TrunkChoice choice = choose_trunk(kH200, layers, {.items = 128, .tuned = tuned});
  for (const char* name : {"resnet.layer1.1.conv1", "resnet.layer1.1.conv2"})
    EXPECT_EQ(find(choice, layers, name).kernel, KernelId::kConvMma);
  EXPECT_EQ(find(choice, layers, "resnet.conv1").kernel, KernelId::kStemMma);
}

}  // namespace
}  // namespace diarist::backend::cuda
