#pragma once
// Sequential samples of one recording, cleaned, with one block of look-ahead.

#include <cstdint>
#include <span>
#include <vector>

#include "audio/source.hpp"

namespace diarist::pipeline {

/// Wraps a Source: replaces NaN and infinite samples by zero (remembering where they were), and
/// knows whether more samples follow, so that the last batch is recognized when it is built.
class SampleFeed {
 public:
  explicit SampleFeed(audio::Source& source);

  /// Copies the next samples; fewer than asked for only at the end.
  std::size_t take(std::span<float> out);
  bool exhausted();  // reads ahead if it must
  std::int64_t taken() const noexcept { return taken_; }
  const std::vector<std::int64_t>& bad_samples() const noexcept { return bad_; }
  /// Number of bad samples, also those beyond the remembered positions.
  std::int64_t bad_count() const noexcept { return bad_count_; }
  /// True when a bad sample lies in [first, last).
  bool bad_in(std::int64_t first, std::int64_t last) const noexcept;
  double seconds_reading() const noexcept { return seconds_; }

 private:
  bool refill();
  audio::Source& source_;
  std::vector<float> block_;
  std::size_t used_ = 0, filled_ = 0;
  bool end_ = false;
  std::int64_t taken_ = 0;
  std::int64_t read_ = 0;
  std::vector<std::int64_t> bad_;  // first bad position of each stretch of kBadStretch samples
  std::int64_t bad_count_ = 0;
  double seconds_ = 0;
};

}  // namespace diarist::pipeline
