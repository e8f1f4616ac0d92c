// Every tap of every device against the double reference: the per-layer error table.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "backend/registry.hpp"
#include "support/synthetic_embedder.hpp"

namespace diarist::test {
namespace {

struct Layer {
  std::string name;
  std::vector<float> values;
};

std::vector<Layer> layers_of(const std::string& device, Precision precision) {
  EmbedderOptions options = synthetic_embedder();
  options.device = device;
  options.precision = precision;
  options.batch = 1;
  const Embedder embedder(options);
  // Three seconds whose mean is that of the piece: a device that removed the mean of the whole
  // chunk once more would be far off.
  const std::vector<float> signal = golden_signal();
  const std::vector<float> features =
      embedder.features({std::span(signal).first(48000)}, FeatureMean::kPiece);
  std::vector<float> masks(std::size_t{3} * 589, 0.0F);
  std::fill_n(masks.begin(), 176, 1.0F);
  std::fill_n(masks.begin() + 589 + 100, 200, 1.0F);
  for (std::size_t f = 0; f < 589; f += 7) masks[1178 + f] = 1.0F;
  std::vector<Layer> layers;
  embedder.forward_with_taps(features, masks, [&](const Tap& tap) {
    layers.push_back({std::string(tap.name), {tap.values.begin(), tap.values.end()}});
  });
  return layers;
}

const std::vector<Layer>& reference() {
  static const std::vector<Layer> made = layers_of("reference", Precision::kExact);
  return made;
}

double worst_cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 1;
  for (std::size_t row = 0; row < a.size(); row += 256) {
    double dot = 0, aa = 0, bb = 0;
    for (std::size_t i = row; i < row + 256; ++i) {
      dot += double{a[i]} * double{b[i]};
      aa += double{a[i]} * double{a[i]};
      bb += double{b[i]} * double{b[i]};
    }
    worst = std::min(worst, dot / std::sqrt(aa * bb));
  }
  return worst;
}

class EmbedderTapParity : public testing::TestWithParam<std::string> {};

// Bounds of spec/gpu-embedding.md section 5.
TEST_P(EmbedderTapParity, EveryLayerKeepsToTheReference) {
  std::vector<Precision> precisions = {Precision::kExact};
  if (GetParam() != "cpu" || !backend::cpu_bf16_supported().empty())
    precisions.push_back(Precision::kFast);
  for (const Precision precision : precisions) {
    const bool exact = precision == Precision::kExact;
    const std::vector<Layer> layers = layers_of(GetParam(), precision);
    ASSERT_EQ(layers.size(), reference().size());
    double before = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::vector<float>& got = layers[i].values;
      const std::vector<float>& wanted = reference()[i].values;
      ASSERT_EQ(layers[i].name, reference()[i].name);
      ASSERT_EQ(got.size(), wanted.size());
      double error = 0, scale = 1e-30;
      for (std::size_t k = 0; k < got.size(); ++k) {
        const double difference = std::abs(double{got[k]} - double{wanted[k]});
        if (!(difference <= error)) error = difference;  // a NaN must not pass
        scale = std::max(scale, std::abs(double{wanted[k]}));
      }
      const double relative = error / scale;
      std::printf("[          ] %s %-18s error %.2e scale %.2e relative %.2e%s\n",
                  precision_name(precision), layers[i].name.c_str(), error, scale, relative,
                  i > 0 && relative > 10 * before ? "  <- tenfold" : "");
      before = relative;
      EXPECT_LT(relative, exact                 ? 1e-4
                          : GetParam() == "cpu" ? 3e-2  // bf16 has 8 bits, FP16 11
                                                : 1e-2)
          << layers[i].name;
    }
    EXPECT_GE(worst_cosine(layers.back().values, reference().back().values),
              exact ? 0.99999 : 0.9999);
  }
}

std::vector<std::string> devices() {
  std::vector<std::string> names = backend::device_names();
  std::erase(names, "reference");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Devices, EmbedderTapParity, testing::ValuesIn(devices()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, ':', '_');
                           return name;
                         });

}  // namespace
}  // namespace diarist::test
