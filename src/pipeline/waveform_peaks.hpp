#pragma once
// Levels of a waveform, collected while samples pass by.

#include <cstdint>
#include <span>

#include "diarist/waveform.hpp"

namespace diarist::pipeline {

/// Takes 16 kHz samples in any pieces; the cut into pieces does not change the result.
class WaveformPeaks {
 public:
  void add(std::span<const float> samples);
  /// The waveform so far, the last level perhaps of less than 10 ms. The collector starts anew.
  Waveform finish();

 private:
  void close();

  Waveform waveform_;
  std::int64_t samples_ = 0;
  std::size_t filled_ = 0;  // of the level in work
  float peak_ = 0;
  double square_ = 0;
};

}  // namespace diarist::pipeline
