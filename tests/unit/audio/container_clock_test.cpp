// Time stamps: what they place where, without any container.

#include "audio/container_clock.hpp"

#include <gtest/gtest.h>

namespace diarist::test {
namespace {

using audio::ContainerClock;

constexpr int kRate = 16000;

TEST(ContainerClock, LateStartAndGapsBecomeSilence) {
  ContainerClock clock(true);
  EXPECT_EQ(clock.place(1.5, 1600, kRate).silence, 24000);
  EXPECT_EQ(clock.place(1.6, 1600, kRate).silence, 0);
  EXPECT_EQ(clock.place(2.0, 1600, kRate).silence, 4800);  // 1.7 to 2.0 s
  EXPECT_EQ(clock.place(std::nullopt, 1600, kRate).silence, 0);
  EXPECT_DOUBLE_EQ(clock.silence(), 1.8);
  EXPECT_DOUBLE_EQ(clock.decoded(), 0.4);
}

TEST(ContainerClock, RoundedTimesAreNoGapsAndDoNotAddUp) {
  ContainerClock clock(true);
  double end = 0;
  for (int i = 0; i < 10000; ++i) {
    const double time = 0.0213 * i;  // frames of 20.9 ms whose container says 21.3 ms
    const ContainerClock::Place place = clock.place(time, 334, kRate);
    EXPECT_EQ(place.drop, 0);
    end += static_cast<double>(place.silence + 334) / kRate;
    ASSERT_NEAR(end, time + 0.0209, ContainerClock::kTolerance + 1e-3);
  }
}

TEST(ContainerClock, OverlapsAreDropped) {
  ContainerClock clock(true);
  clock.place(0.0, 16000, kRate);
  EXPECT_EQ(clock.place(0.8, 8000, kRate).drop, 3200);
  EXPECT_EQ(clock.place(0.2, 8000, kRate).drop, 8000);  // whole
  EXPECT_EQ(clock.place(1.3, 1600, kRate).drop, 0);
}

TEST(ContainerClock, AClockThatBeginsAgainIsNotFollowed) {
  ContainerClock clock(true);
  clock.place(0.0, 16000 * 100, kRate);
  ContainerClock::Place place = clock.place(0.0, 16000, kRate);
  EXPECT_EQ(place.silence + place.drop, 0);
  place = clock.place(3.0, 16000, kRate);  // of the second clock: 2 s are missing
  EXPECT_EQ(place.silence, 32000);
  place = clock.place(1e9, 16000, kRate);
  EXPECT_EQ(place.silence + place.drop, 0);
  EXPECT_EQ(clock.restarts(), 2);
}

TEST(ContainerClock, WithoutFollowingJumpsAreCounted) {
  ContainerClock clock(false);
  EXPECT_EQ(clock.place(1.5, 16000, kRate).silence, 0);  // a late start is no jump
  clock.place(2.5, 16000, kRate);
  EXPECT_EQ(clock.jumps(), 0);
  EXPECT_EQ(clock.place(5.5, 16000, kRate).silence, 0);
  EXPECT_EQ(clock.jumps(), 1);
  EXPECT_DOUBLE_EQ(clock.jumped(), 2.0);
}

}  // namespace
}  // namespace diarist::test
