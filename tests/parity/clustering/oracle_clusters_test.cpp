// Runs of the unmodified reference package with stand-in embedding weights and requested numbers of
// speakers: clusters, centroids, regular and exclusive RTTM.

#include "reference_run.hpp"

namespace diarist {
namespace {

struct Setting {
  const char* name;
  SpeakerHints hints;
};

const Setting kSettings[] = {
    {"auto", {}},         {"num1", {.num = 1}}, {"num2", {.num = 2}}, {"num3", {.num = 3}},
    {"num5", {.num = 5}}, {"min3", {.min = 3}}, {"max1", {.max = 1}},
};

class OracleClusters : public testing::TestWithParam<std::string> {};

TEST_P(OracleClusters, EqualForEverySetting) {
  const std::filesystem::path folder = test::shared_folder() / "data/oracle" / GetParam();
  DIARIST_NEED(folder);
  DIARIST_NEED(test::shared_folder() / "data/plda/plda.npz");
  const test::Golden segmentations(folder / "segmentations.npz");
  const auto shape = segmentations.get<std::int64_t>("shape");
  const auto activity = test::activity_bits(
      segmentations.bits("bits", static_cast<std::size_t>(shape[0] * shape[1] * shape[2])));
  const auto embeddings = test::Golden(folder / "embeddings.npz").get<float>("embeddings");
  const std::string uri = GetParam() == "sample" ? "sample" : "clip_16k";
  for (const auto& [name, hints] : kSettings) {
    SCOPED_TRACE(name);
    const test::ReferenceRun run = test::reference_run(activity, embeddings, hints, uri);
    const test::Golden expected(folder / (std::string(name) + ".npz"));
    EXPECT_EQ(run.clusters.hard, expected.get<std::int32_t>("hard_clusters"));
    EXPECT_EQ(run.clusters.hard_before_inactive,
              expected.get<std::int32_t>("hard_before_inactive"));
    const auto centroids = expected.get<double>("centroids");
    ASSERT_EQ(run.clusters.centroids.size(), centroids.size());
    EXPECT_LE(test::largest_difference(run.clusters.centroids, centroids), 1e-6);
    EXPECT_EQ(run.rttm, test::text_file(folder / (std::string(name) + ".rttm")));
    EXPECT_EQ(run.exclusive_rttm,
              test::text_file(folder / (std::string(name) + ".exclusive.rttm")));
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, OracleClusters, testing::Values("02", "04", "05", "sample"));

}  // namespace
}  // namespace diarist
