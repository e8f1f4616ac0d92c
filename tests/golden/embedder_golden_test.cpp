// The public embedder with synthetic weights, read from a file, against spec/golden: embeddings
// under six masks, and three of the taps.

#include "backend/registry.hpp"
#include "diarist/embedder.hpp"

#include "golden_runner.hpp"
#include "support/support.hpp"
#include "support/synthetic_embedder.hpp"

namespace diarist::test {
namespace {

class EmbedderGolden : public GoldenTest {
 protected:
  static Embedder embedder() {
    EmbedderOptions options = synthetic_embedder();
    options.weights = synthetic_weight_file("wespeaker-resnet34", false);
    options.device = GetParam();
    options.precision = Precision::kExact;
    options.batch = 2;
    return Embedder(options);
  }
};

TEST_P(EmbedderGolden, SixMasksAsTwoChunks) {
  DIARIST_NEED(shared_folder() / "spec" / "golden");
  const Numbers chunk = golden("fbank.npy");
  Numbers features = chunk;
  features.insert(features.end(), chunk.begin(), chunk.end());
  Numbers out(std::size_t{6} * 256);
  embedder().forward(features, golden("masks.npy"), out);
  expect_close("embeddings.npy", out, golden("embeddings.npy"));
}

TEST_P(EmbedderGolden, Taps) {
  DIARIST_NEED(shared_folder() / "spec" / "golden");
  const Numbers masks = some_rows(golden("masks.npy"), 589, 0, 3);
  int compared = 0;
  embedder().forward_with_taps(golden("fbank.npy"), masks, [&](const Tap& tap) {
    const Numbers values(tap.values.begin(), tap.values.end());
    if (tap.name == "layer4.2") {
      Numbers rows;
      for (std::int64_t r = 0; r < 2560; r += 64) {
        const Numbers row = some_rows(values, 125, r, 1);
        rows.insert(rows.end(), row.begin(), row.end());
      }
      expect_close("resnet_frames_every_64th.npy", rows, golden("resnet_frames_every_64th.npy"));
    } else if (tap.name == "pooled") {
      expect_close("stats_mask1.npy", some_rows(values, 5120, 1, 1), golden("stats_mask1.npy"));
    } else if (tap.name == "embeddings") {
      expect_close("embeddings.npy", values, some_rows(golden("embeddings.npy"), 256, 0, 3));
    } else {
      return;
    }
    ++compared;
  });
  EXPECT_EQ(compared, 3);
}

INSTANTIATE_TEST_SUITE_P(Devices, EmbedderGolden, testing::ValuesIn(backend::device_names()),
                         device_test_name);

}  // namespace
}  // namespace diarist::test
