#include "pipeline/sample_feed.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "memory_source.hpp"

namespace diarist::pipeline {
namespace {

TEST(SampleFeed, HandsOutEverySampleOnceAndKnowsTheEnd) {
  std::vector<float> samples(40001);
  std::iota(samples.begin(), samples.end(), 0.0F);
  test::MemorySource source(samples);
  SampleFeed feed(source);
  std::vector<float> got(50000, -1.0F);
  EXPECT_FALSE(feed.exhausted());
  EXPECT_EQ(feed.take(std::span(got).first(7)), 7U);
  EXPECT_EQ(feed.take(std::span(got).subspan(7, 32000)), 32000U);
  EXPECT_FALSE(feed.exhausted());
  EXPECT_EQ(feed.take(std::span(got).subspan(32007)), 40001U - 32007U);
  EXPECT_TRUE(feed.exhausted());
  EXPECT_EQ(feed.taken(), 40001);
  got.resize(40001);
  EXPECT_EQ(got, samples);
}

TEST(SampleFeed, EmptySourceIsExhaustedAtOnce) {
  test::MemorySource source({});
  SampleFeed feed(source);
  EXPECT_TRUE(feed.exhausted());
  float one = 5;
  EXPECT_EQ(feed.take(std::span(&one, 1)), 0U);
}

TEST(SampleFeed, BadSamplesBecomeZeroAndAreFoundByWindow) {
  std::vector<float> samples(64000, 0.25F);
  samples[20000] = std::numeric_limits<float>::quiet_NaN();
  samples[20001] = std::numeric_limits<float>::infinity();
  samples[50000] = -std::numeric_limits<float>::infinity();
  test::MemorySource source(samples);
  SampleFeed feed(source);
  std::vector<float> got(64000);
  ASSERT_EQ(feed.take(got), got.size());
  EXPECT_EQ(got[20000], 0.0F);
  EXPECT_EQ(got[50000], 0.0F);
  EXPECT_EQ(got[49999], 0.25F);
  EXPECT_EQ(feed.bad_count(), 3);
  EXPECT_FALSE(feed.bad_in(0, 16000));
  EXPECT_TRUE(feed.bad_in(16000, 32000));
  EXPECT_FALSE(feed.bad_in(32000, 48000));
  EXPECT_TRUE(feed.bad_in(0, 160000));
}

}  // namespace
}  // namespace diarist::pipeline
