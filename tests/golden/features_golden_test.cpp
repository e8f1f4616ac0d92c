// Front ends against spec/golden: log-mel features of both kinds and the sinc filters.

#include <cmath>

#include "golden_runner.hpp"
#include "model/networks.hpp"
#include "support/support.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

class FeaturesGolden : public GoldenTest {
 protected:
  Numbers features(const model::Graph& graph) {
    return run_batch(device(), graph, {{{golden_signal()}}, {160000}, {}})[0][0];
  }

  /// Single cells with next to no energy may differ by 2e-3, all together by 1e-4 rms.
  void compare(const std::string& file, const Numbers& rows) {
    const Numbers got = centred(rows, 80);
    const Numbers wanted = golden(file);
    expect_close(file, got, wanted, 2e-3);
    double squares = 0;
    for (std::size_t i = 0; i < got.size(); ++i) squares += std::pow(got[i] - wanted[i], 2);
    const double rms = std::sqrt(squares / static_cast<double>(got.size()));
    RecordProperty(file + "_rms", std::to_string(rms));
    EXPECT_LE(rms, 1e-4) << file;
  }
};

TEST_P(FeaturesGolden, WeSpeakerLogMel) {
  DIARIST_NEED(shared_folder() / "spec" / "golden");
  compare("fbank.npy", features(model::wespeaker_features()));
}

TEST_P(FeaturesGolden, CampplusLogMel) {
  DIARIST_NEED(shared_folder() / "spec" / "golden");
  compare("campplus_fbank.npy", features(model::campplus_features()));
}

TEST_P(FeaturesGolden, SilenceSitsOnTheFloor) {
  const Numbers rows =
      run_batch(device(), model::campplus_features(), {{{Numbers(4000, 0.0F)}}, {4000}, {}})[0][0];
  ASSERT_EQ(rows.size(), 23U * 80U);
  expect_close("floor", rows, Numbers(23 * 80, -15.942385F), 2e-6);
}

/// Only complete frames exist; a frame depends on its own 400 samples alone.
TEST_P(FeaturesGolden, FramesDependOnTheirSamplesOnly) {
  const Numbers signal = golden_signal();
  const Numbers whole(signal.begin(), signal.begin() + 8000);
  const Numbers part(signal.begin() + 1600, signal.begin() + 1600 + 719);  // frames 10, 11
  const Outputs rows =
      run_batch(device(), model::wespeaker_features(), {{{whole}, {part}}, {8000, 719}, {}});
  ASSERT_EQ(rows[0][0].size(), 48U * 80U);
  ASSERT_EQ(rows[1][0].size(), 2U * 80U);
  EXPECT_EQ(some_rows(rows[0][0], 80, 10, 2), rows[1][0]);
}

DIARIST_ON_EVERY_DEVICE(FeaturesGolden);

TEST(SincFilters, GoldenFilters) {
  DIARIST_NEED(shared_folder() / "spec" / "golden");
  const base::TensorF filters = model::sinc_filters(synthetic_weights("pyannet"));
  ASSERT_EQ(filters.shape(), (base::Shape{80, 251}));
  expect_close("sinc_filters.npy", {filters.values().begin(), filters.values().end()},
               golden("sinc_filters.npy"));
}

}  // namespace
}  // namespace diarist::test
