#pragma once
/// \file
/// Audio handed over in memory.

#include <cstdint>
#include <span>

namespace diarist {

/// Interleaved samples that stay the caller's; nothing is copied before the down-mix.
/// Values are in [-1, 1] (16-bit PCM is value / 32768); larger ones are not clipped.
struct AudioView {
  std::span<const float> samples;  ///< frames * channels values
  int sample_rate = 16000;         ///< in Hz
  int channels = 1;                ///< mixed to mono by their arithmetic mean
};

}  // namespace diarist
