// PyanNet with synthetic weights against spec/golden.

#include <algorithm>

#include "golden_runner.hpp"
#include "model/networks.hpp"
#include "support/support.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

class SegmentationGolden : public GoldenTest {};

TEST_P(SegmentationGolden, EveryTap) {
  DIARIST_NEED(shared_folder() / "spec" / "golden");
  const model::Weights weights = synthetic_weights("pyannet");
  const Numbers samples = golden_signal();
  const Numbers raw =
      run_batch(device(), model::sinc_front_end(weights), {{{samples}}, {160000}, {}})[0][0];
  ASSERT_EQ(raw.size(), 15975U * 80U);
  const model::Graph graph = model::segmentation_network(weights).with_outputs(
      {"sinc2", "lstm0", "lstm3", "log_probabilities", "classes"});
  const std::vector<Numbers> out = run_batch(device(), graph, {{{samples, raw}}, {}, {}})[0];

  expect_close("sincnet_out.npy", columns_over_time(out[0], 60, 1), golden("sincnet_out.npy"));
  expect_close("lstm0_out_first50.npy", some_rows(out[1], 256, 0, 50),
               golden("lstm0_out_first50.npy"));
  expect_close("lstm3_out_first50.npy", some_rows(out[2], 256, 0, 50),
               golden("lstm3_out_first50.npy"));
  const Numbers wanted = golden("segmentation.npy");
  expect_close("segmentation.npy", out[3], wanted, 1e-4);

  ASSERT_EQ(out[4].size(), 589U);
  for (std::size_t t = 0; t < 589; ++t) {
    const auto row = wanted.begin() + static_cast<std::ptrdiff_t>(7 * t);
    EXPECT_EQ(out[4][t], static_cast<float>(std::max_element(row, row + 7) - row)) << "frame " << t;
  }
}

DIARIST_ON_EVERY_DEVICE(SegmentationGolden);

}  // namespace
}  // namespace diarist::test
