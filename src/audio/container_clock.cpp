#include "audio/container_clock.hpp"

#include <algorithm>
#include <cmath>

namespace diarist::audio {
namespace {

constexpr double kJump = 0.25;  // seconds; containers round their times, some to frames

}  // namespace

ContainerClock::Place ContainerClock::place(std::optional<double> time, std::int64_t count,
                                            int rate) {
  Place found;
  if (time && follow_) found = follow(*time, count, rate);
  if (time && !follow_) watch(*time);
  decoded_ += static_cast<double>(count) / rate;
  placed_ += static_cast<double>(found.silence + count - found.drop) / rate;
  return found;
}

ContainerClock::Place ContainerClock::follow(double time, std::int64_t count, int rate) {
  const double ahead = time - zero_ - placed_;
  if (!(ahead <= kMostGap) || ahead < -kMostOverlap) {
    zero_ = time - placed_;
    ++restarts_;
    return {};
  }
  if (std::abs(ahead) <= kTolerance) return {};
  const auto frames = static_cast<std::int64_t>(std::llround(std::abs(ahead) * rate));
  if (ahead > 0) {
    silence_ += ahead;
    return {.silence = frames};
  }
  const std::int64_t drop = std::min(frames, count);
  dropped_ += static_cast<double>(drop) / rate;
  return {.drop = drop};
}

void ContainerClock::watch(double time) {
  const double ahead = time - decoded_;
  if (ahead_ && std::abs(ahead - *ahead_) > kJump) {
    ++jumps_;
    jumped_ += ahead - *ahead_;
  }
  ahead_ = ahead;
}

}  // namespace diarist::audio
