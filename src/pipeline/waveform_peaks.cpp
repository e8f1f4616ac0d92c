#include "pipeline/waveform_peaks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

constexpr std::size_t kPerLevel = timeline::kSampleRate / Waveform::kLevelsPerSecond;

std::uint8_t level(double amplitude) {
  return static_cast<std::uint8_t>(std::lround(255.0 * std::sqrt(std::min(amplitude, 1.0))));
}

}  // namespace

void WaveformPeaks::add(std::span<const float> samples) {
  samples_ += static_cast<std::int64_t>(samples.size());
  while (!samples.empty()) {
    const std::size_t count = std::min(samples.size(), kPerLevel - filled_);
    float peak = peak_;
    double square = square_;
    for (const float sample : samples.first(count)) {
      peak = std::max(peak, std::abs(sample));
      square += static_cast<double>(sample) * sample;
    }
    peak_ = peak;
    square_ = square;
    filled_ += count;
    if (filled_ == kPerLevel) close();
    samples = samples.subspan(count);
  }
}

void WaveformPeaks::close() {
  waveform_.peak.push_back(level(peak_));
  waveform_.power.push_back(level(std::sqrt(square_ / static_cast<double>(filled_))));
  filled_ = 0;
  peak_ = 0;
  square_ = 0;
}

Waveform WaveformPeaks::finish() {
  if (filled_ > 0) close();
  waveform_.duration =
      static_cast<double>(std::exchange(samples_, 0)) / static_cast<double>(timeline::kSampleRate);
  return std::exchange(waveform_, {});
}

}  // namespace diarist::pipeline
