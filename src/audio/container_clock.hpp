#pragma once
// Where a container's time stamps put decoded samples (AudioOptions::container_clock), and what
// they say about samples that are missing.

#include <cstdint>
#include <optional>

namespace diarist::audio {

/// Looks at frames in decoding order. Times are seconds from the container's zero.
class ContainerClock {
 public:
  /// Smaller distances are rounding of containers and delays of codecs (WMA: 92 ms); samples then
  /// simply go on.
  static constexpr double kTolerance = 0.1;
  /// Sound that is said to begin this much before its turn overlaps what is there and is dropped;
  /// earlier stamps are a clock that began again.
  static constexpr double kMostOverlap = 10;
  /// Larger gaps are no gaps but another clock.
  static constexpr double kMostGap = 12.0 * 3600;

  /// \param follow place sound by time stamps; otherwise jumps are only counted.
  explicit ContainerClock(bool follow) : follow_(follow) {}

  struct Place {
    std::int64_t silence = 0;  ///< frames to be put before this one's
    std::int64_t drop = 0;     ///< frames to be left out at its start
  };

  /// A decoded frame of `count` samples per channel; no time: it goes on where the last one ended.
  Place place(std::optional<double> time, std::int64_t count, int rate);

  /// Seconds decoded so far, silence and dropped samples not counted.
  double decoded() const noexcept { return decoded_; }
  int jumps() const noexcept { return jumps_; }
  double jumped() const noexcept { return jumped_; }    ///< seconds, all jumps together
  double silence() const noexcept { return silence_; }  ///< seconds put in
  double dropped() const noexcept { return dropped_; }  ///< seconds left out
  int restarts() const noexcept { return restarts_; }   ///< times that could not be followed

 private:
  Place follow(double time, std::int64_t count, int rate);
  void watch(double time);

  bool follow_;
  double decoded_ = 0;
  double placed_ = 0;            // end of what was given out
  double zero_ = 0;              // of the container's clock, after it began again
  std::optional<double> ahead_;  // clock minus decoded_, at the latest frame
  int jumps_ = 0;
  double jumped_ = 0;
  double silence_ = 0;
  double dropped_ = 0;
  int restarts_ = 0;
};

}  // namespace diarist::audio
