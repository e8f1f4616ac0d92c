// Every long stage of the clustering stops within a tenth of a second. Processor time is measured,
// so that other work on the machine does not count; every thread would have to stop by then.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>
#include <stop_token>
#include <thread>

#include "base/task_pool.hpp"
#include "cluster/agglomerative.hpp"
#include "cluster/kmeans.hpp"
#include "cluster/linkage.hpp"
#include "cluster/rows.hpp"
#include "cluster/speakers.hpp"
#include "cluster/training.hpp"
#include "cluster/vbx.hpp"
#include "diarist/error.hpp"
#include "support/look_clock.hpp"

namespace diarist::cluster {
namespace {

constexpr double kMost = 0.1;  // seconds

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<float> random_unit_rows(std::size_t count, std::size_t dim) {
  std::mt19937 engine(1);
  std::vector<float> rows(count * dim);
  for (float& x : rows) x = static_cast<float>(engine()) / 2147483648.0F - 1.0F;
  return unit_rows(rows, dim);
}

// Runs `work` and asks it to stop after some of its processor time.
void expect_to_stop(const char* what, double after,
                    const std::function<void(const std::stop_token&)>& work) {
  std::stop_source source;
  double asked = 0;
  std::jthread asker([&](const std::stop_token& done) {
    const double begin = processor_seconds();
    while (!done.stop_requested() && processor_seconds() - begin < after)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    asked = processor_seconds();
    source.request_stop();
  });
  bool stopped = false;
  try {
    work(source.get_token());
  } catch (const Error& error) {
    stopped = error.code() == ErrorCode::kCancelled;
  }
  const double now = processor_seconds();
  asker.request_stop();
  asker.join();
  ASSERT_TRUE(stopped) << what << " after " << after << " s";
  EXPECT_LT(now - asked, kMost) << what << " after " << after << " s";
  std::printf("[          ] %s after %.2f s: stopped within %.4f s\n", what, after, now - asked);
}

TEST(Cancellation, OfTheLinkage) {
  base::TaskPool pool(2);
  const std::vector<float> rows = random_unit_rows(6000, 192);
  for (const double after : {0.01, 0.1, 0.25})
    for (const std::size_t stored : {std::size_t{0}, std::size_t{1000000}})
      expect_to_stop(
          stored == 0 ? "linkage on centroids" : "linkage on distances", after,
          [&](const std::stop_token& stop) {
            centroid_linkage(
                rows, 192, &pool,
                {.most_stored_rows = stored, .most_fallback_rows = 0, .cut = 0.6, .stop = stop});
          });
}

// Corners of a cube: nearly every decision is a tie, and is made exactly.
TEST(Cancellation, OfALinkageFullOfTies) {
  std::mt19937 engine(2);
  std::vector<float> rows(3000 * 20);
  for (float& x : rows) x = static_cast<float>(engine() % 2);
  for (const double after : {0.02, 0.08})
    expect_to_stop("ties", after, [&](const std::stop_token& stop) {
      centroid_linkage(rows, 20, nullptr,
                       {.most_stored_rows = 0, .most_fallback_rows = 0, .stop = stop});
    });
}

TEST(Cancellation, OfVbx) {
  constexpr std::size_t kRows = 12000, kDim = 128;
  base::TaskPool pool(2);
  const std::vector<float> rows = random_unit_rows(kRows, kDim);
  std::vector<double> features(rows.begin(), rows.end());
  for (double& x : features) x *= 10;
  std::vector<std::int32_t> labels;
  for (std::size_t t = 0; t < kRows; ++t) labels.push_back(static_cast<std::int32_t>(t % 400));
  for (const double after : {0.01, 0.2, 0.5})
    expect_to_stop("VBx", after, [&](const std::stop_token& stop) {
      vbx(features, std::vector<double>(kDim, 0.8), labels, {.stop = stop}, &pool);
    });
}

TEST(Cancellation, OfKmeans) {
  const std::vector<float> rows = random_unit_rows(20000, 192);
  for (const double after : {0.05, 0.4})
    expect_to_stop("k-means", after,
                   [&](const std::stop_token& stop) { kmeans(rows, 192, 30, nullptr, stop); });
}

TEST(Cancellation, OfAllOfIt) {
  constexpr int kWindows = 3000, kDim = 192;
  const std::vector<float> embeddings = random_unit_rows(kWindows * 3, kDim);
  std::vector<std::uint8_t> activity(kWindows * kFrames);
  for (std::size_t i = 0; i < activity.size(); ++i)
    activity[i] = static_cast<std::uint8_t>(1U << (i % kFrames / 200));
  base::TaskPool pool(2);
  for (const Method method : {Method::kVbxIsotropic, Method::kAgglomerative})
    expect_to_stop("clustering", 0.3, [&](const std::stop_token& stop) {
      assign_speakers({kWindows, kDim, activity, embeddings}, {.method = method}, &pool, stop);
    });
}

// Not only at some moments, but between any two looks of a thread.
TEST(Cancellation, LooksAreNeverFarApart) {
  constexpr int kWindows = 2000, kDim = 192;
  std::mt19937 engine(3);
  std::vector<float> voices = random_unit_rows(20, kDim);
  std::vector<float> embeddings = random_unit_rows(kWindows * 3, kDim);
  for (std::size_t i = 0; i < embeddings.size(); i += kDim) {
    const std::size_t voice = engine() % 20 * kDim;
    for (std::size_t d = 0; d < kDim; ++d)
      embeddings[i + d] = voices[voice + d] + 0.4F * embeddings[i + d];
  }
  std::vector<std::uint8_t> activity(kWindows * kFrames);
  for (std::size_t i = 0; i < activity.size(); ++i)
    activity[i] = static_cast<std::uint8_t>(1U << (i % kFrames / 200));
  base::TaskPool pool(2);
  for (const Method method : {Method::kVbxIsotropic, Method::kAgglomerative})
    for (const int number : {0, 12}) {
      Settings settings{.method = method};
      if (number > 0) settings.hints.num = number;
      test::longest_without_a_look();
      const Result result =
          assign_speakers({kWindows, kDim, activity, embeddings}, settings, &pool);
      const double longest = test::longest_without_a_look();
      EXPECT_EQ(result.clusters, number > 0 ? number : 20);
      EXPECT_GT(longest, 0);
      EXPECT_LT(longest, 0.5 * kMost) << number;
      std::printf("[          ] a look every %.4f s at least\n", longest);
    }
}

}  // namespace
}  // namespace diarist::cluster
