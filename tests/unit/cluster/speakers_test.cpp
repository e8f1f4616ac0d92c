// Everything after the networks on made-up recordings, against the executable specification: the
// clustering of the preset "open" and the older 3.1 clustering, with requested numbers, missing
// embeddings and twins.

#include "cluster/speakers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/task_pool.hpp"
#include "diarist/error.hpp"
#include "recordings.hpp"
#include "support/segment_rttm.hpp"
#include "timeline/aggregate.hpp"
#include "timeline/grid.hpp"

namespace diarist::cluster {
namespace {

struct Printed {
  std::string regular, exclusive;
};

Printed print(const Recording& made, const Result& result) {
  const timeline::Grid grid = timeline::Grid::of_chunks(made.chunks);
  std::vector<std::uint8_t> counts = timeline::count_speakers(grid, made.activity);
  if (result.max_count > 0) timeline::cap_counts(counts, result.max_count);
  const auto segments =
      timeline::segments_of(timeline::reconstruct(grid, made.activity, result.hard, counts));
  timeline::cap_counts(counts, 1);
  const auto alone =
      timeline::segments_of(timeline::reconstruct(grid, made.activity, result.hard, counts));
  const timeline::NamedTurns named = timeline::name_like_reference(segments, alone);
  return {test::rttm_of(named.turns, named.names, "audio"),
          test::rttm_of(named.exclusive_turns, named.names, "audio")};
}

class MadeUpRecording : public testing::TestWithParam<int> {};

TEST_P(MadeUpRecording, EqualsTheSpecification) {
  const test::Golden& golden = speakers_golden();
  const Recording made = recording(GetParam());
  base::TaskPool pool(2);
  int compared = 0;
  for (int i = 0; i < static_cast<int>(golden.dim("hints", 0)); ++i) {
    const std::string name = std::to_string(GetParam()) + "_" + std::to_string(i);
    if (!golden.has("old_hard" + name)) continue;
    SCOPED_TRACE("hints " + std::to_string(i));
    const SpeakerHints hints = hints_of_case(i);
    const Result old = assign_speakers(
        made.input(), {.method = Method::kAgglomerative, .hints = hints, .reference = true}, &pool);
    EXPECT_EQ(old.hard, golden.get<std::int32_t>("old_hard" + name));
    EXPECT_EQ(print(made, old).regular, golden.text("old_rttm" + name));
    EXPECT_EQ(print(made, old).exclusive, golden.text("old_exclusive" + name));

    const Result open = assign_speakers(
        made.input(), {.method = Method::kVbxIsotropic, .hints = hints, .reference = true}, &pool);
    EXPECT_EQ(open.hard, golden.get<std::int32_t>("open_hard" + name));
    EXPECT_EQ(print(made, open).regular, golden.text("open_rttm" + name));
    const auto centroids = golden.get<double>("open_centroids" + name);
    ASSERT_EQ(open.centroids.size(), centroids.size());
    for (std::size_t j = 0; j < centroids.size(); ++j)
      ASSERT_NEAR(open.centroids[j], centroids[j], 1e-12);
    ++compared;
  }
  EXPECT_GE(compared, 5);
}

INSTANTIATE_TEST_SUITE_P(All, MadeUpRecording, testing::Range(0, 6));

TEST(AssignSpeakers, IsTheSameForAnyNumberOfThreads) {
  const Recording made = recording(5);
  for (const Method method : {Method::kAgglomerative, Method::kVbxIsotropic}) {
    const Result alone = assign_speakers(made.input(), {.method = method});
    for (const int threads : {2, 3, 4}) {
      base::TaskPool pool(threads);
      const Result result = assign_speakers(made.input(), {.method = method}, &pool);
      EXPECT_EQ(result.hard, alone.hard);
      EXPECT_EQ(result.centroids, alone.centroids);
      EXPECT_EQ(result.responsibilities, alone.responsibilities);
    }
  }
}

TEST(AssignSpeakers, RefusesArraysThatDoNotFit) {
  Recording made = recording(0);
  made.activity.pop_back();
  EXPECT_THROW(assign_speakers(made.input(), {.method = Method::kVbxIsotropic}), Error);
  made = recording(0);
  made.embeddings.pop_back();
  EXPECT_THROW(assign_speakers(made.input(), {.method = Method::kVbxIsotropic}), Error);
  made = recording(0);
  EXPECT_THROW(assign_speakers(made.input(), {.method = Method::kVbxPlda}), Error) << "no PLDA";
}

}  // namespace
}  // namespace diarist::cluster
