// Windows of real recordings through the public embedder, with the stand-in weights: features from
// audio, masks from the stored segmentation, embeddings against those of the reference pipeline.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "../pipeline/recordings.hpp"
#include "audio/source.hpp"
#include "backend/registry.hpp"
#include "diarist/embedder.hpp"
#include "support/standin_bundle.hpp"
#include "timeline/activity.hpp"

namespace diarist {
namespace {

constexpr std::size_t kFrames = 589;
constexpr std::size_t kSecond = 16000;

// numpy.packbits of [C, 589, 3] in C order -> activity bits.
std::vector<std::uint8_t> unpack(const std::filesystem::path& file) {
  const auto arrays = base::read_npz(file);
  const std::vector<std::uint8_t> bits = arrays.at("bits").as<std::uint8_t>(file.string());
  const std::vector<std::int64_t> shape = arrays.at("shape").as<std::int64_t>(file.string());
  std::vector<std::uint8_t> activity(static_cast<std::size_t>(shape[0]) * kFrames);
  for (std::size_t i = 0; i < activity.size() * 3; ++i)
    if ((bits[i / 8] >> (7 - i % 8)) & 1)
      activity[i / 3] = static_cast<std::uint8_t>(activity[i / 3] | (1U << (i % 3)));
  return activity;
}

std::vector<float> samples_of(const std::filesystem::path& file, std::size_t length) {
  std::vector<float> samples(length, 0.0F);
  audio::open_file(file)->read(samples);
  return samples;
}

double cosine(const float* a, const float* b) {
  double dot = 0, aa = 0, bb = 0;
  for (int i = 0; i < 256; ++i) {
    dot += double{a[i]} * double{b[i]};
    aa += double{a[i]} * double{a[i]};
    bb += double{b[i]} * double{b[i]};
  }
  return dot / std::sqrt(aa * bb);
}

class EmbedderOracle : public testing::TestWithParam<std::string> {};

TEST_P(EmbedderOracle, EqualsTheReferencePipeline) {
  const std::filesystem::path folder = test::data("oracle/02");
  DIARIST_NEED(folder);
  DIARIST_NEED(test::recording("02"));
  DIARIST_NEED(test::standin_weights());
  const std::vector<std::uint8_t> activity = unpack(folder / "segmentations.npz");
  const std::size_t chunks = activity.size() / kFrames;
  const std::vector<float> samples =
      samples_of(test::recording("02"), (chunks - 1) * kSecond + 10 * kSecond);
  const auto make_embedder = [](Precision precision) {
    return Embedder({.weights = test::standin_weights(),
                     .allow_unknown_weights = true,
                     .device = GetParam(),
                     .precision = precision});
  };
  const Embedder embedder = make_embedder(Precision::kExact);
  std::vector<float> features, masks(chunks * 3 * kFrames);
  for (std::size_t c = 0; c < chunks; ++c) {
    const std::vector<float> rows =
        embedder.features({std::span(samples).subspan(c * kSecond, 10 * kSecond)});
    features.insert(features.end(), rows.begin(), rows.end());
    for (std::size_t s = 0; s < 3; ++s)
      timeline::embedding_mask(std::span(activity).subspan(c * kFrames, kFrames),
                               static_cast<int>(s),
                               std::span(masks).subspan((c * 3 + s) * kFrames, kFrames));
  }
  const auto arrays = base::read_npz(folder / "embeddings.npz");
  const std::vector<float> wanted = arrays.at("embeddings").as<float>("embeddings");
  ASSERT_EQ(chunks * 3 * 256, wanted.size());
  const auto worst_cosine = [&](const Embedder& any) {
    std::vector<float> embeddings(wanted.size());
    any.forward(features, masks, embeddings);
    double worst = 1;
    for (std::size_t row = 0; row < wanted.size(); row += 256)
      worst = std::min(worst, cosine(embeddings.data() + row, wanted.data() + row));
    return worst;
  };
  const double exact = worst_cosine(embedder);
  std::printf("[          ] %zu chunks, exact: worst cosine 1 - %.1e\n", chunks, 1 - exact);
  EXPECT_GE(exact, 0.99999);
  if (GetParam() == "cpu" && backend::cpu_bf16_supported().empty()) return;
  const double fast = worst_cosine(make_embedder(Precision::kFast));
  std::printf("[          ] %zu chunks, fast: worst cosine 1 - %.1e\n", chunks, 1 - fast);
  EXPECT_GE(fast, 0.9999);
}

// The reference backend would take minutes; the taps and golden tests run it.
std::vector<std::string> devices() {
  std::vector<std::string> names = backend::device_names();
  std::erase(names, "reference");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Devices, EmbedderOracle, testing::ValuesIn(devices()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, ':', '_');
                           return name;
                         });

}  // namespace
}  // namespace diarist
