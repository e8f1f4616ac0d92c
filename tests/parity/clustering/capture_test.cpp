// Captured runs of the reference: every stage after the networks, within the bounds of the
// specification, and the RTTM byte for byte.

#include <cmath>
#include <cstdio>

#include "cluster/linkage.hpp"
#include "cluster/rows.hpp"
#include "cluster/training.hpp"
#include "reference_run.hpp"

namespace diarist {
namespace {

using test::largest_difference;

// Column signs of a captured eigenvector basis are arbitrary: flip ours to fit.
void align_signs(std::vector<double>& features, const std::vector<double>& captured,
                 std::size_t dim) {
  for (std::size_t d = 0; d < dim; ++d) {
    double product = 0;
    for (std::size_t i = d; i < features.size(); i += dim) product += features[i] * captured[i];
    if (product >= 0) continue;
    for (std::size_t i = d; i < features.size(); i += dim) features[i] = -features[i];
  }
}

class Capture : public testing::TestWithParam<std::string> {};

TEST_P(Capture, EqualsEveryStage) {
  const std::filesystem::path folder = test::shared_folder() / "data/captures" / GetParam();
  DIARIST_NEED(folder);
  DIARIST_NEED(test::shared_folder() / "data/plda/plda.npz");
  const auto activity = test::activity_bits(
      test::Golden(folder / "segmentations.npz").get<std::uint8_t>("segmentations"));
  const auto embeddings = test::Golden(folder / "raw_embeddings.npz").get<float>("embeddings");
  test::ReferenceRun run = test::reference_run(activity, embeddings, {}, "clip_16k");

  const test::Golden reconstruction(folder / "reconstruction.npz");
  EXPECT_EQ(run.counts, reconstruction.get<std::uint8_t>("count"));
  EXPECT_EQ(run.matrix.cells, reconstruction.get<std::uint8_t>("discrete_diarization"));

  const test::Golden plda(folder / "plda_embeddings.npz");
  EXPECT_EQ(run.clusters.train_chunk, plda.get<std::int32_t>("train_chunk_idx"));
  EXPECT_EQ(run.clusters.train_speaker, plda.get<std::int32_t>("train_speaker_idx"));
  const auto post_plda = plda.get<double>("post_plda");
  ASSERT_EQ(run.clusters.features.size(), post_plda.size());
  align_signs(run.clusters.features, post_plda, 128);
  const double feature_difference = largest_difference(run.clusters.features, post_plda);
  EXPECT_LE(feature_difference, 1e-9);

  EXPECT_EQ(run.clusters.initial_labels,
            base::read_npy(folder / "ahc_init_labels.npy").as<std::int32_t>("ahc_init_labels"));
  // The linkage of long recordings, which this one is too short for.
  const cluster::Training training =
      cluster::training_pairs({static_cast<int>(activity.size() / 589), 256, activity, embeddings});
  const std::vector<float> unit = cluster::unit_rows(training.rows, 256);
  const auto stored = cluster::centroid_linkage(unit, 256, nullptr);
  const auto compact = cluster::centroid_linkage(
      unit, 256, nullptr, {.most_stored_rows = 0, .most_fallback_rows = 0, .cut = 0.6, .stop = {}});
  ASSERT_EQ(compact.size(), stored.size());
  for (std::size_t k = 0; k < stored.size(); ++k) {
    EXPECT_EQ(compact[k].left, stored[k].left) << k;
    EXPECT_EQ(compact[k].right, stored[k].right) << k;
    EXPECT_NEAR(compact[k].distance, stored[k].distance, 1e-9) << k;
  }
  EXPECT_EQ(cluster::flat_clusters(compact, 0.6), run.clusters.initial_labels);
  const test::Golden vbx(folder / "vbx_state.npz");
  const auto gamma = vbx.get<double>("q_final");
  ASSERT_EQ(run.clusters.responsibilities.size(), gamma.size());
  const double gamma_difference = largest_difference(run.clusters.responsibilities, gamma);
  EXPECT_LE(gamma_difference, 1e-9);
  const auto pi = vbx.get<double>("sp_final");
  ASSERT_EQ(run.clusters.priors.size(), pi.size());
  EXPECT_LE(largest_difference(run.clusters.priors, pi), 1e-9);
  const auto elbo = vbx.get<double>("elbo_trajectory");
  ASSERT_EQ(run.clusters.elbo.size(), elbo.size());
  EXPECT_LE(largest_difference(run.clusters.elbo, elbo), 1e-6);

  const test::Golden clustering(folder / "clustering.npz");
  const auto centroids = clustering.get<double>("centroids");
  ASSERT_EQ(run.clusters.centroids.size(), centroids.size());
  const double centroid_difference = largest_difference(run.clusters.centroids, centroids);
  EXPECT_LE(centroid_difference, 1e-6);
  // Captured before inactive pairs lost their clusters, or after: both are compared where active.
  const auto hard = clustering.get<std::int32_t>("hard_clusters");
  ASSERT_EQ(run.clusters.hard.size(), hard.size());
  std::size_t equal_before = 0, equal_after = 0;
  for (std::size_t i = 0; i < hard.size(); ++i) {
    equal_before += run.clusters.hard_before_inactive[i] == hard[i] ? 1 : 0;
    equal_after += run.clusters.hard[i] == hard[i] ? 1 : 0;
  }
  EXPECT_TRUE(equal_before == hard.size() || equal_after == hard.size())
      << equal_before << " or " << equal_after << " of " << hard.size();

  EXPECT_EQ(run.rttm, test::text_file(folder / "reference.rttm"));
  std::printf("[          ] %s: %zu training pairs, features %.1e, gamma %.1e, centroids %.1e\n",
              GetParam().c_str(), run.clusters.train_chunk.size(), feature_difference,
              gamma_difference, centroid_difference);
}

INSTANTIATE_TEST_SUITE_P(Recordings, Capture, testing::Values("01", "02", "04", "05", "08"));

}  // namespace
}  // namespace diarist
