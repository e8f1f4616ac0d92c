// Requested numbers as a contract (without the reference's rules).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "diarist/error.hpp"
#include "recordings.hpp"
#include "timeline/aggregate.hpp"
#include "timeline/grid.hpp"

namespace diarist::cluster {
namespace {

constexpr Method kMethods[] = {Method::kVbxIsotropic, Method::kAgglomerative, Method::kVbxPlda};

// A PLDA that changes nothing but the scale: the first 128 dimensions.
std::shared_ptr<const Plda> plain_plda() {
  auto plda = std::make_shared<Plda>();
  plda->mean1.assign(256, 0.0);
  plda->lda.assign(256 * 128, 0.0);
  for (std::size_t i = 0; i < 128; ++i) plda->lda[i * 128 + i] = 1.0;
  plda->mean2.assign(128, 0.0);
  plda->mu.assign(128, 0.0);
  plda->tr.assign(128 * 128, 0.0);
  for (std::size_t i = 0; i < 128; ++i) plda->tr[i * 129] = 1.0;
  plda->psi.assign(128, 2.0);
  return plda;
}

// The recording with its embeddings stretched to 256 dimensions, so that all methods take it.
Recording wide(const Recording& made) {
  Recording result = made;
  result.dim = 256;
  result.embeddings.assign(static_cast<std::size_t>(made.chunks) * 3 * 256, 0.25F);
  for (std::size_t i = 0; i < made.embeddings.size(); ++i)
    result.embeddings[i / static_cast<std::size_t>(made.dim) * 256 +
                      i % static_cast<std::size_t>(made.dim)] = made.embeddings[i];
  return result;
}

Result run(const Recording& made, Method method, const SpeakerHints& hints) {
  return assign_speakers(made.input(), {.method = method, .hints = hints, .plda = plain_plda()});
}

// Columns of the frame matrix: what the listener gets, phantom speakers included.
int columns_of(const Recording& made, const Result& result) {
  const timeline::Grid grid = timeline::Grid::of_chunks(made.chunks);
  std::vector<std::uint8_t> counts = timeline::count_speakers(grid, made.activity);
  if (result.max_count > 0) timeline::cap_counts(counts, result.max_count);
  return timeline::reconstruct(grid, made.activity, result.hard, counts).columns;
}

std::size_t used_clusters(const Result& result) {
  std::set<std::int32_t> used(result.hard.begin(), result.hard.end());
  used.erase(-2);
  return used.size();
}

TEST(RequestedNumbers, NeverMoreThanAskedFor) {
  for (int number = 0; number < 6; ++number) {
    const Recording made = wide(recording(number));
    for (const Method method : kMethods)
      for (const int most : {1, 2, 4}) {
        SCOPED_TRACE("recording " + std::to_string(number) + " most " + std::to_string(most));
        EXPECT_LE(columns_of(made, run(made, method, {.num = most})), most);
        EXPECT_LE(columns_of(made, run(made, method, {.max = most})), most);
      }
  }
}

TEST(RequestedNumbers, AreReachedWhereThereIsEnoughSpeech) {
  for (const int number : {1, 2, 5}) {
    const Recording made = wide(recording(number));
    for (const Method method : kMethods)
      for (const int wanted : {1, 3, 6}) {
        SCOPED_TRACE("recording " + std::to_string(number) + " wanted " + std::to_string(wanted));
        const Result result = run(made, method, {.num = wanted});
        EXPECT_EQ(result.clusters, wanted);
        EXPECT_EQ(used_clusters(result), static_cast<std::size_t>(wanted));
      }
  }
}

TEST(RequestedNumbers, MoreThanTheSpeechCanFillIsAWarning) {
  Recording made = wide(recording(3));
  for (float& value : made.embeddings)
    if (std::isnan(value)) value = 0.5F;  // holes have a warning of their own
  const int trained = static_cast<int>(run(made, Method::kVbxIsotropic, {}).train_chunk.size());
  ASSERT_GT(trained, 1);
  for (const Method method : kMethods) {
    const Result result = run(made, method, {.num = trained + 5});
    EXPECT_LE(result.clusters, trained);
    ASSERT_EQ(result.warnings.size(), 1U);
    EXPECT_NE(result.warnings[0].find(std::to_string(trained + 5)), std::string::npos);
    EXPECT_TRUE(run(made, method, {.max = trained + 5}).warnings.empty()) << "only a maximum";
  }
  // The reference has no result for community-1 here.
  EXPECT_THROW(assign_speakers(made.input(), {.method = Method::kVbxPlda,
                                              .hints = {.num = trained + 5},
                                              .reference = true,
                                              .plda = plain_plda()}),
               Error);
}

TEST(RequestedNumbers, SameRowsCanNotMakeSeveralSpeakers) {
  Recording made = wide(recording(0));
  std::fill(made.embeddings.begin(), made.embeddings.end(), 1.0F);
  for (const Method method : kMethods) {
    const Result result = run(made, method, {.num = 3});
    for (const double value : result.centroids) EXPECT_FALSE(std::isnan(value));
    EXPECT_LE(columns_of(made, result), 3);
  }
}

TEST(RequestedNumbers, SilenceHasNoSpeakers) {
  Recording made = wide(recording(0));
  std::fill(made.activity.begin(), made.activity.end(), std::uint8_t{0});
  for (const Method method : kMethods)
    for (const SpeakerHints& hints : {SpeakerHints{}, SpeakerHints{.num = 2}}) {
      const Result result = run(made, method, hints);
      EXPECT_EQ(columns_of(made, result), 0);
      EXPECT_EQ(used_clusters(result), 0U);
      EXPECT_TRUE(std::isnan(result.centroids.at(0)));
      EXPECT_EQ(result.warnings.size(), hints.num ? 1U : 0U);
    }
}

TEST(RequestedNumbers, OneTrainingPairIsOneCluster) {
  Recording made = wide(recording(0));
  std::fill(made.activity.begin(), made.activity.end(), std::uint8_t{0});
  std::fill_n(made.activity.begin() + 3 * 589, 118, std::uint8_t{1});  // just long enough
  std::fill_n(made.activity.begin() + 9 * 589, 117, std::uint8_t{2});  // just too short
  for (const Method method : kMethods) {
    const Result result = run(made, method, {});
    EXPECT_EQ(result.train_chunk, (std::vector<std::int32_t>{3}));
    EXPECT_EQ(result.clusters, 1);
    EXPECT_EQ(result.hard[3 * 3], 0);
    EXPECT_EQ(result.hard[9 * 3 + 1], 0);
    EXPECT_EQ(used_clusters(result), 1U);
    EXPECT_EQ(result.centroids.size(), 256U);
  }
}

TEST(BadEmbeddings, AreLeftOutAndReported) {
  const Recording clean = wide(recording(2));
  for (const Method method : {Method::kAgglomerative, Method::kVbxPlda}) {
    const Result before = run(clean, method, {});
    for (const float value :
         {0.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      Recording made = clean;
      const std::size_t pair =
          static_cast<std::size_t>(before.train_chunk[4] * 3 + before.train_speaker[4]);
      std::fill_n(made.embeddings.begin() + static_cast<std::ptrdiff_t>(pair * 256), 256, value);
      const Result result = run(made, method, {});
      EXPECT_EQ(result.train_chunk.size() + 1, before.train_chunk.size());
      EXPECT_EQ(result.warnings.size(), before.warnings.size() + (std::isnan(value) ? 0U : 1U));
      for (const double centroid : result.centroids) EXPECT_FALSE(std::isnan(centroid));
      if (method == Method::kAgglomerative) {
        EXPECT_GE(result.hard[pair], 0) << "the speech stays";
      }
      if (!std::isnan(value)) {
        EXPECT_THROW(assign_speakers(made.input(),
                                     {.method = method, .reference = true, .plda = plain_plda()}),
                     Error);
      }
    }
  }
}

// plain_plda() looks at the first 128 dimensions only; without a direction there, no feature is a
// number and no speaker is left.
TEST(BadEmbeddings, OutsideOfWhatThePldaSeesAreRefused) {
  Recording made = wide(recording(2));
  for (std::size_t i = 0; i < made.embeddings.size(); ++i)
    made.embeddings[i] = i % 256 < 128 ? 0.0F : 1.0F;
  EXPECT_THROW(run(made, Method::kVbxPlda, {}), Error);
}

}  // namespace
}  // namespace diarist::cluster
