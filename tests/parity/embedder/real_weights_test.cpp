// Spans of a real recording through CAM++ with the published weights, against spec/golden.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "../pipeline/recordings.hpp"
#include "diarist/embedder.hpp"

namespace diarist {
namespace {

TEST(EmbedderRealWeights, SpansEqualThePrototype) {
  const std::filesystem::path golden =
      test::shared_folder() / "spec" / "golden" / "campplus_real_embeddings.npy";
  DIARIST_NEED(golden);
  DIARIST_NEED(test::recording("02"));
  DIARIST_NEED(test::models_folder() / "open");
  const Embedder embedder({.preset = "open", .models = test::models_folder()});
  // campplus.md (c): starts and lengths of the four pieces.
  const std::vector<TimeSpan> spans = {
      {10.6, 10.6 + 3.5}, {22.0, 27.0}, {18.7, 18.7 + 2.5}, {15.0, 16.5}};
  const std::vector<float> got = embedder.embed(test::recording("02"), spans);
  const std::vector<float> wanted = base::read_npy(golden).as<float>(golden.string());
  ASSERT_EQ(got.size(), wanted.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(double{got[i]} - double{wanted[i]});
    if (!(difference <= worst)) worst = difference;
  }
  std::printf("[          ] largest difference %.1e\n", worst);
  // The whole f32 chain stays within 2e-5 of the f64 prototype (campplus.md (c)).
  EXPECT_LE(worst, 2e-5);
}

}  // namespace
}  // namespace diarist
