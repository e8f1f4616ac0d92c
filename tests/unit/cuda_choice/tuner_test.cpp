// The tuner with an invented stopwatch: what becomes of given times.

#include "backend/cuda/choice/tuner.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "backend/cuda/choice/device_meter.hpp"
#include "backend/cuda/choice/tune_file.hpp"
#include "diarist/error.hpp"
#include "support/support.hpp"
#include "trunks.hpp"

namespace diarist::backend::cuda {
namespace {

// Times of an invented device: per kernel, plus a little per variant, per item.
struct Stopwatch {
  double walk = 1, mma = 2, tile = 1, ffma = 9, library = 1.5, block = 1.5, down = 2.9, stem = 1;
  int narrow_until = 0;  // batches up to this like the narrow tile
  std::set<KernelId> broken;
  int calls = 0;

  CandidateTime operator()(const Candidate& c) {
    ++calls;
    if (broken.count(c.kernel) != 0) return {0, 0, "does not run"};
    double ms = 0;
    switch (c.kernel) {
      case KernelId::kConvWalk:
        ms = walk;
        break;
      case KernelId::kConvMma:
        ms = mma;
        break;
      case KernelId::kConvStride:
      case KernelId::kConvTile:
        ms = tile;
        break;
      case KernelId::kConvFfma:
        ms = ffma;
        break;
      case KernelId::kLibrary:
        ms = library;
        break;
      case KernelId::kBlockWalk:
        ms = block;
        break;
      case KernelId::kConvDown:
        ms = down;
        break;
      case KernelId::kStemMma:
      case KernelId::kStemFfma:
        ms = stem;
        break;
    }
    const bool likes_narrow = c.items <= narrow_until;
    if (c.kernel == KernelId::kConvTile) ms += (c.variant == 1) != likes_narrow ? 0.1 : 0;
    if (c.kernel == KernelId::kConvMma) ms += 0.01 * c.variant;
    return {ms * c.items, 0, ""};
  }
};

std::vector<TuneEntry> tune(Stopwatch& watch, Mode mode, std::vector<int> batches) {
  return tune_trunk(kH200, resnet34_trunk(), mode, batches, false, std::ref(watch));
}

const TuneEntry& entry_of(const std::vector<TuneEntry>& entries, const std::string& layer,
                          int items) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  for (const TuneEntry& entry : entries)
    if (entry.shape == layers[layer_index(layers, layer)].shape && entry.items == items)
      return entry;
  static const TuneEntry none;
  ADD_FAILURE() << "no entry for " << layer << " at " << items;
  return none;
}

TEST(Tuner, FusesWhatIsQuickerFused) {
  Stopwatch watch;
  const auto entries = tune(watch, Mode::kFast, {1, 128});
  EXPECT_EQ(entry_of(entries, "resnet.layer1.1.conv1", 128).kernel, KernelId::kBlockWalk);
  EXPECT_EQ(entry_of(entries, "resnet.layer1.1.conv2", 1).kernel, KernelId::kBlockWalk);
  EXPECT_EQ(entry_of(entries, "resnet.conv1", 128).kernel, KernelId::kStemMma);
  EXPECT_EQ(entry_of(entries, "resnet.layer2.0.conv1", 128).kernel, KernelId::kConvDown);
  EXPECT_EQ(entry_of(entries, "resnet.layer2.0.shortcut.0", 128).kernel, KernelId::kConvDown);
  EXPECT_EQ(entry_of(entries, "resnet.layer2.1.conv1", 128).kernel, KernelId::kConvWalk);
  EXPECT_DOUBLE_EQ(entry_of(entries, "resnet.layer1.1.conv2", 128).milliseconds, 1.5 * 128);
}

TEST(Tuner, DoesNotFuseWhatIsSlowerFused) {
  Stopwatch watch;
  watch.block = 5;
  watch.down = 9;
  const auto entries = tune(watch, Mode::kFast, {128});
  EXPECT_EQ(entry_of(entries, "resnet.layer1.1.conv1", 128).kernel, KernelId::kLibrary);
  EXPECT_EQ(entry_of(entries, "resnet.conv1", 128).kernel, KernelId::kStemMma);
  EXPECT_EQ(entry_of(entries, "resnet.layer2.0.conv1", 128).kernel, KernelId::kLibrary);
}

TEST(Tuner, KernelsComeFromTheLargestBatchVariantsFromEach) {
  Stopwatch watch;
  watch.narrow_until = 8;
  const auto entries = tune(watch, Mode::kFast, {1, 128, 32, 1});
  EXPECT_EQ(entry_of(entries, "resnet.layer3.1.conv1", 1).variant, 1);
  EXPECT_EQ(entry_of(entries, "resnet.layer3.1.conv1", 32).variant, 0);
  EXPECT_EQ(entry_of(entries, "resnet.layer3.1.conv1", 128).variant, 0);
}

TEST(Tuner, WhatItMakesIsAValidTuneFileThatChoosesSo) {
  for (const Mode mode : {Mode::kFast, Mode::kExact}) {
    Stopwatch watch;
    const std::vector<ConvLayer> layers = resnet34_trunk();
    TuneFile file;
    file.identity = {kH200.name, 90, 132, "1.0", kernel_set_hash()};
    file.entries = tune(watch, mode, {1, 32, 128});
    const TuneFile read = parse_tune_file(to_json_text(file), "made");
    check_tune_file(read, file.identity, kH200, "made");
    for (const int items : {1, 8, 128}) {
      const TrunkChoice choice =
          choose_trunk(kH200, layers, {.mode = mode, .items = items, .tuned = read.entries});
      for (std::size_t i = 0; i < layers.size(); ++i)
        EXPECT_EQ(choice.layers[i].source, Source::kTuneFile)
            << layers[i].name << ": " << choice.layers[i].reason;
    }
  }
}

TEST(Tuner, CandidatesThatDoNotRunAreLeftOut) {
  Stopwatch watch;
  watch.broken = {KernelId::kLibrary, KernelId::kBlockWalk, KernelId::kConvWalk};
  const auto entries = tune(watch, Mode::kFast, {128});
  EXPECT_EQ(entry_of(entries, "resnet.layer1.1.conv1", 128).kernel, KernelId::kConvMma);
  EXPECT_EQ(entry_of(entries, "resnet.layer2.1.conv1", 128).kernel, KernelId::kConvMma);
  watch.broken = {KernelId::kLibrary, KernelId::kConvMma, KernelId::kConvFfma, KernelId::kConvWalk};
  try {
    tune(watch, Mode::kFast, {128});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("does not run"), std::string::npos) << error.what();
  }
}

TEST(Tuner, ExactAndKernelOnlyLeaveTheLibraryOut) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  const auto with_library = [&](Mode mode, bool kernel_only) {
    int count = 0;
    for (const Candidate& c : candidates(kH200, layers, mode, 32, kernel_only))
      count += c.kernel == KernelId::kLibrary ? 1 : 0;
    return count;
  };
  EXPECT_EQ(with_library(Mode::kExact, false), 0);
  EXPECT_EQ(with_library(Mode::kFast, true), 0);
  EXPECT_EQ(with_library(Mode::kFast, false), 14);  // residuals are shapes of their own; no stem
}

TEST(Tuner, RowsMarkWhatAProgramWouldRun) {
  const std::vector<ConvLayer> layers = resnet34_trunk();
  Stopwatch watch;
  const std::vector<AlgorithmRow> rows =
      time_candidates(kH200, layers, {.items = 128}, std::ref(watch));
  EXPECT_EQ(static_cast<std::size_t>(watch.calls), rows.size());
  int chosen = 0;
  bool block = false;
  for (const AlgorithmRow& row : rows) {
    chosen += row.chosen ? 1 : 0;
    block = block || (row.chosen && row.kernel == "block_walk");
  }
  EXPECT_TRUE(block);
  // Stem + block, block, two stride-2 pairs, 64, 128 and 256 with and without residual (128 and 256
  // have both), and the last stride-2 convolution with its shortcut.
  EXPECT_EQ(chosen, 12);
}

TEST(TuneSession, MeasuresWritesAndChecks) {
  const test::TempFolder folder;
  const std::filesystem::path path = folder.path() / "made.tune";
  TuneSession session(kH200, "580.82.07");
  EXPECT_THROW(session.write(path), Error);
  Stopwatch watch;
  const std::vector<int> batches = {1, 128};
  const auto tune_mode = [&](Mode mode) {
    return session.tune(resnet34_trunk(), mode, batches, false, std::ref(watch)).size();
  };
  const std::size_t fast = tune_mode(Mode::kFast), exact = tune_mode(Mode::kExact);
  EXPECT_EQ(tune_mode(Mode::kFast), fast);  // replaced, not doubled
  session.write(path);
  EXPECT_EQ(session.check(path).size(), fast + exact);
  const TuneSession other(kH200, "");
  EXPECT_EQ(other.identity().driver, "unknown");
  EXPECT_THROW(other.check(path), Error);
}

TEST(DeviceMeter, IsAbsentWithoutADriver) {
  const auto meter = DeviceMeter::open("0000:00:00.0");
  EXPECT_EQ(meter, nullptr);  // no such device, even where there is a driver
}

}  // namespace
}  // namespace diarist::backend::cuda
