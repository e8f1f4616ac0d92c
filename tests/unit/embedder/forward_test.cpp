// Embedder::forward: lengths, batches, masks, memory of the caller, taps, threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "../base/expect_error.hpp"
#include "chunks.hpp"
#include "support/synthetic_embedder.hpp"

namespace diarist::test {
namespace {

Embedder with_batch(int batch) {
  EmbedderOptions options = synthetic_embedder();
  options.batch = batch;
  return Embedder(options);
}

TEST(EmbedderForward, WrongLengthsAreNamedBeforeAnythingRuns) {
  const Embedder embedder = with_batch(2);
  const Chunks good = chunks_of({0});
  std::vector<float> out = good.embeddings();
  const auto refuse = [&](std::size_t features, std::size_t masks, std::size_t embeddings,
                          const std::string& buffer, const std::string& actual,
                          const std::string& expected) {
    std::vector<float> f(features), m(masks), e(embeddings, -1.0F);
    for (const std::string& part : {buffer + ":", actual, expected})
      expect_error(ErrorCode::kInvalidArgument, part, [&] { embedder.forward(f, m, e); });
    EXPECT_TRUE(std::all_of(e.begin(), e.end(), [](float x) { return x == -1.0F; }));
  };
  refuse(79841, 1767, 768, "features", "79841 values given", "multiple of 79840");
  refuse(2 * 79840, 1767, 2 * 768, "masks", "1767 values given", "3534 expected");
  refuse(79840, 1767, 256, "embeddings", "256 values given", "768 expected");
  refuse(0, 1767, 0, "masks", "1767 values given", "0 expected");
}

TEST(EmbedderForward, NoChunksAreNoWork) {
  const Embedder embedder = with_batch(2);
  embedder.forward(std::span<const float>(), std::span<const float>(), std::span<float>());
}

TEST(EmbedderForward, AChunkGivesTheSameBitsAloneAndInAnyBatch) {
  const std::vector<float> all = forward(with_batch(3), chunks_of({0, 1, 2}));
  const std::vector<float> split = forward(with_batch(2), chunks_of({2, 0, 1}));
  const std::vector<float> alone = forward(with_batch(1), chunks_of({1}));
  EXPECT_EQ(rows_of(split, 0), rows_of(all, 2));
  EXPECT_EQ(rows_of(split, 1), rows_of(all, 0));
  EXPECT_EQ(rows_of(split, 2), rows_of(all, 1));
  EXPECT_EQ(alone, rows_of(all, 1));
  EXPECT_NE(rows_of(all, 0), rows_of(all, 1));
}

TEST(EmbedderForward, AnEmptyMaskGivesTheBias) {
  const std::vector<float> out = forward(with_batch(1), chunks_of({0}));
  const model::Weights weights = synthetic_weights("wespeaker-resnet34");
  const std::span<const float> bias = weights.at("resnet.seg_1.bias").values();
  EXPECT_TRUE(std::equal(bias.begin(), bias.end(), out.begin() + 512));
  EXPECT_FALSE(std::equal(bias.begin(), bias.end(), out.begin()));
}

// The mean is the caller's business: a constant added to a band must show.
TEST(EmbedderForward, FeaturesAreTakenAsTheyAre) {
  const Embedder embedder = with_batch(1);
  Chunks chunks = chunks_of({0});
  const std::vector<float> before = forward(embedder, chunks);
  for (std::size_t t = 0; t < kFeatureValues; t += Embedder::kBands) chunks.features[t] += 5.0F;
  EXPECT_NE(forward(embedder, chunks), before);
}

TEST(EmbedderForward, MemoryOfTheCallerIsUsedWhereItLies) {
  const Embedder embedder = with_batch(2);
  const Chunks chunks = chunks_of({0, 1, 2});
  const std::vector<float> wanted = forward(embedder, chunks);
  // One number further on, so that no vector register's alignment is met.
  std::vector<float> features(1, 0.0F), masks(1, 0.0F), out(wanted.size() + 2, -1.0F);
  features.insert(features.end(), chunks.features.begin(), chunks.features.end());
  masks.insert(masks.end(), chunks.masks.begin(), chunks.masks.end());
  const auto tensor = [](std::vector<float>& values, std::size_t count) {
    return DeviceTensor{values.data() + 1, static_cast<std::int64_t>(count)};
  };
  embedder.forward(tensor(features, chunks.features.size()), tensor(masks, chunks.masks.size()),
                   tensor(out, wanted.size()));
  EXPECT_EQ(std::vector<float>(out.begin() + 1, out.end() - 1), wanted);
  EXPECT_EQ(out.front(), -1.0F);
  EXPECT_EQ(out.back(), -1.0F);
}

TEST(EmbedderForward, MemoryElsewhereAndStreamsAreRefused) {
  const Embedder embedder = with_batch(1);
  Chunks chunks = chunks_of({0});
  std::vector<float> out = chunks.embeddings();
  DeviceTensor features{chunks.features.data(), static_cast<std::int64_t>(kFeatureValues)};
  DeviceTensor masks{chunks.masks.data(), static_cast<std::int64_t>(kMaskValues)};
  DeviceTensor embeddings{out.data(), static_cast<std::int64_t>(kVectorValues)};
  expect_error(ErrorCode::kUnsupported, "no streams",
               [&] { embedder.forward(features, masks, embeddings, nullptr); });
  masks.kind = DeviceTensor::Kind::kCuda;
  expect_error(ErrorCode::kInvalidArgument, "masks: lies on GPU 0",
               [&] { embedder.forward(features, masks, embeddings); });
  masks.kind = DeviceTensor::Kind::kHost;
  masks.data = nullptr;
  expect_error(ErrorCode::kInvalidArgument, "masks",
               [&] { embedder.forward(features, masks, embeddings); });
  embeddings.elements = 1;
  expect_error(ErrorCode::kInvalidArgument, "embeddings: 1 values given, 768 expected",
               [&] { embedder.forward(features, masks, embeddings); });
  EXPECT_EQ(out, chunks.embeddings());
}

std::vector<std::string> tap_names() {
  std::vector<std::string> names = {"stem"};
  const int blocks[] = {3, 4, 6, 3};
  for (int layer = 1; layer <= 4; ++layer)
    for (int block = 0; block < blocks[layer - 1]; ++block) {
      const std::string name = "layer" + std::to_string(layer) + "." + std::to_string(block);
      names.push_back(name + ".hidden");
      if (layer > 1 && block == 0) names.push_back(name + ".shortcut");
      names.push_back(name);
    }
  names.insert(names.end(), {"pooled", "embeddings"});
  return names;
}

TEST(EmbedderTaps, FireOnceEachInTheOrderOfTheNetwork) {
  const Embedder embedder = with_batch(2);
  const Chunks chunks = chunks_of({0, 1});
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::vector<float> embeddings;
  embedder.forward_with_taps(chunks.features, chunks.masks, [&](const Tap& tap) {
    names.emplace_back(tap.name);
    shapes[names.back()] = {tap.shape.begin(), tap.shape.end()};
    std::int64_t count = 1;
    for (const std::int64_t length : tap.shape) count *= length;
    ASSERT_EQ(static_cast<std::int64_t>(tap.values.size()), count) << tap.name;
    EXPECT_EQ(tap.device.elements, count);
    EXPECT_EQ(tap.device.data[count - 1], tap.values.back());
    if (tap.name == "embeddings") embeddings.assign(tap.values.begin(), tap.values.end());
  });
  EXPECT_EQ(names.size(), std::size_t{Embedder::kTaps});
  EXPECT_EQ(names, tap_names());
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(shapes["stem"], (Shape{2, 32, 80, 998}));
  EXPECT_EQ(shapes["layer2.0.shortcut"], (Shape{2, 64, 40, 499}));
  EXPECT_EQ(shapes["layer3.5.hidden"], (Shape{2, 128, 20, 250}));
  EXPECT_EQ(shapes["layer4.2"], (Shape{2, 256, 10, 125}));
  EXPECT_EQ(shapes["pooled"], (Shape{6, 5120}));
  EXPECT_EQ(shapes["embeddings"], (Shape{6, 256}));
  EXPECT_EQ(embeddings, forward(embedder, chunks));
}

TEST(EmbedderTaps, ExceptionsAndWrongLengthsReachTheCaller) {
  const Embedder embedder = with_batch(1);
  const Chunks chunks = chunks_of({0});
  EXPECT_THROW(embedder.forward_with_taps(chunks.features, chunks.masks,
                                          [](const Tap&) { throw std::runtime_error("enough"); }),
               std::runtime_error);
  const auto nothing = [](const Tap&) { FAIL() << "called"; };
  expect_error(ErrorCode::kInvalidArgument, "masks: 1 values given, 1767 expected", [&] {
    embedder.forward_with_taps(chunks.features, {chunks.masks.data(), 1}, nothing);
  });
  const Chunks two = chunks_of({0, 1});
  expect_error(ErrorCode::kInvalidArgument, "2 chunks given, 1 to 1",
               [&] { embedder.forward_with_taps(two.features, two.masks, nothing); });
  EXPECT_EQ(forward(embedder, chunks), forward(with_batch(1), chunks));
}

TEST(EmbedderForward, TwoThreadsAtOnceDoNotMeet) {
  const Embedder embedder = with_batch(1);
  const Chunks first = chunks_of({0}), second = chunks_of({1});
  const std::vector<float> wanted_first = forward(embedder, first);
  const std::vector<float> wanted_second = forward(embedder, second);
  std::vector<float> got_first, got_second;
  std::thread a([&] { got_first = forward(embedder, first); });
  std::thread b([&] { got_second = forward(embedder, second); });
  a.join();
  b.join();
  EXPECT_EQ(got_first, wanted_first);
  EXPECT_EQ(got_second, wanted_second);
}

TEST(EmbedderForward, StopsOnRequestAndWorksAfterwards) {
  const Embedder embedder = with_batch(1);
  const Chunks chunks = chunks_of({0});
  std::stop_source stop;
  stop.request_stop();
  std::vector<float> out = chunks.embeddings();
  expect_error(ErrorCode::kCancelled, "stopped",
               [&] { embedder.forward(chunks.features, chunks.masks, out, stop.get_token()); });
  embedder.forward(chunks.features, chunks.masks, out);
  EXPECT_NE(out, chunks.embeddings());
}

}  // namespace
}  // namespace diarist::test
