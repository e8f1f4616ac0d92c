// The tune file: comes back from its text, and is refused as a whole for any doubt.

#include "backend/cuda/choice/tune_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "diarist/error.hpp"
#include "support/support.hpp"
#include "trunks.hpp"

namespace diarist::backend::cuda {
namespace {

const LayerShape kWide{64, 64, 9, 1, 1, 40, 499, true};

TuneIdentity identity() {
  return {kH200.name, kH200.architecture, kH200.multiprocessors, "580.82.07", kernel_set_hash()};
}

TuneFile example() {
  TuneFile file;
  file.identity = identity();
  const int tile = choose_variant(kH200, KernelId::kConvMma, kWide, Mode::kExact, 128);
  file.entries = {{kWide, Mode::kFast, 128, KernelId::kConvWalk, 0, 0.302},
                  {kWide, Mode::kFast, 1, KernelId::kConvWalk, 0, 0.011},
                  {kWide, Mode::kExact, 128, KernelId::kConvMma, tile, 1.25}};
  return file;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, const std::string& words,
                    ErrorCode code = ErrorCode::kBadFile) {
  try {
    const TuneFile file = parse_tune_file(text, "my.tune");
    check_tune_file(file, identity(), kH200, "my.tune");
    ADD_FAILURE() << "accepted: " << text.substr(0, 300);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find("my.tune"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(TuneFile, ComesBackFromItsText) {
  const TuneFile file = example();
  const std::string text = to_json_text(file);
  const TuneFile read = parse_tune_file(text, "test");
  EXPECT_EQ(read.identity, file.identity);
  ASSERT_EQ(read.entries.size(), 3U);
  EXPECT_EQ(to_json_text(read), text);
  TuneFile turned = file;
  std::swap(turned.entries[0], turned.entries[2]);
  EXPECT_EQ(to_json_text(turned), text);  // the order of measuring doesn't matter
  EXPECT_NO_THROW(check_tune_file(read, identity(), kH200, "test"));
}

TEST(TuneFile, WrittenAndLoaded) {
  const test::TempFolder folder;
  const std::filesystem::path path = folder.path() / "h200.tune";
  write_tune_file(example(), path);
  const TuneFile loaded = load_tune_file(path, identity(), kH200);
  ConvLayer layer;
  layer.name = "layer";
  layer.shape = kWide;
  const LayerChoice choice =
      choose_layer(kH200, layer, {.mode = Mode::kExact, .items = 128, .tuned = loaded.entries});
  EXPECT_EQ(choice.kernel, KernelId::kConvMma);
  EXPECT_EQ(choice.source, Source::kTuneFile);
  EXPECT_THROW(load_tune_file(folder.path() / "none.tune", identity(), kH200), Error);
}

TEST(TuneFile, RefusesWhatIsNoTuneFile) {
  const std::string text = to_json_text(example());
  for (const char* bad : {"", "{", "nonsense", "[1"}) expect_refused(bad, "not JSON");
  for (const char* bad : {"[]", "3", "\"text\"", "null"}) expect_refused(bad, "not an object");
  expect_refused("{}", "no 'format'");
  expect_refused(replaced(text, "diarist-tune", "other"), "not a diarist tune file");
  expect_refused(replaced(text, "\"format_version\": 1", "\"format_version\": 2"), "version 2");
  expect_refused(replaced(text, "\"format_version\": 1", "\"format_version\": \"1\""),
                 "not an integer");
  for (std::size_t size : {text.size() / 3, text.size() / 2, text.size() - 3})
    expect_refused(text.substr(0, size), "not JSON");
}

TEST(TuneFile, RefusesWrongTypesAndBounds) {
  const std::string text = to_json_text(example());
  const auto refuse = [&](const std::string& from, const std::string& to,
                          const std::string& words) {
    expect_refused(replaced(text, from, to), words);
  };
  refuse("\"cin\": 64", "\"cin\": 0", "'cin' outside");
  refuse("\"cin\": 64", "\"cin\": 64.5", "not an integer");
  refuse("\"cin\": 64", "\"cin\": 18446744073709551615", "'cin' outside");
  refuse("\"cin\": 64", "\"cin\": -9223372036854775808", "'cin' outside");
  refuse("\"cin\": 64", "\"other\": 64", "no 'cin'");
  refuse("\"taps\": 9", "\"taps\": 5", "other than 1 and 9");
  refuse("\"residual\": true", "\"residual\": 1", "not true or false");
  refuse("\"mode\": \"exact\"", "\"mode\": \"quick\"", "'mode' that is not known");
  refuse("\"kernel\": \"conv_mma\"", "\"kernel\": \"conv\"", "'kernel' that is not known");
  refuse("\"kernel\": \"conv_mma\"", "\"kernel\": 5", "not a text");
  refuse("\"batch\": 128", "\"batch\": 2000000", "'batch' outside");
  refuse("\"ms\": 1.25", "\"ms\": -1", "'ms' of");
  refuse("\"ms\": 1.25", "\"ms\": \"1\"", "not a number");
  refuse("\"driver\": \"580.82.07\"", "\"driver\": \"" + std::string(300, 'x') + "\"",
         "'driver' of 300 bytes");
  TuneFile empty = example();
  empty.entries.clear();
  expect_refused(to_json_text(empty), "1 to 4096 entries");
}

TEST(TuneFile, RefusesContradictions) {
  TuneFile twice = example();
  twice.entries.push_back(twice.entries[0]);
  expect_refused(to_json_text(twice), "two entries");
  TuneFile mixed = example();
  mixed.entries[1].kernel = KernelId::kConvFfma;
  expect_refused(to_json_text(mixed), "two kernels");
}

TEST(TuneFile, RefusesOtherDevicesDriversAndKernels) {
  const auto refuse = [&](auto&& change, const std::string& words) {
    TuneFile file = example();
    change(file);
    expect_refused(to_json_text(file), words, ErrorCode::kInvalidArgument);
  };
  refuse([](TuneFile& f) { f.identity.device = "NVIDIA H100 80GB HBM3"; },
         "measured with device NVIDIA H100 80GB HBM3, this is NVIDIA H200");
  refuse([](TuneFile& f) { f.identity.architecture = 80; }, "architecture 80");
  refuse([](TuneFile& f) { f.identity.multiprocessors = 114; }, "114");
  refuse([](TuneFile& f) { f.identity.driver = "535.1"; }, "driver 535.1");
  refuse([](TuneFile& f) { f.identity.kernel_set = std::string(64, '0'); }, "kernel set");
  refuse([](TuneFile& f) { f.entries[2].variant = 9999; }, "no variant 9999");
  refuse([](TuneFile& f) { f.entries[2].kernel = KernelId::kBlockWalk; }, "block_walk serves only");
  refuse(
      [](TuneFile& f) {
        f.entries[2].kernel = KernelId::kLibrary;
        f.entries[2].variant = 0;
      },
      "FP32 maps");
}

TEST(TuneFile, KernelSetHasAHash) {
  const std::string hash = kernel_set_hash();
  EXPECT_EQ(hash.size(), 64U);
  EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace diarist::backend::cuda
