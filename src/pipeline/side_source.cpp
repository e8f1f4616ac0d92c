#include "pipeline/side_source.hpp"

#include <algorithm>
#include <cmath>

namespace diarist::pipeline {
namespace {

constexpr double kStepsPerSecond = 100;

}  // namespace

void SideLevels::add(std::span<const float> samples) {
  for (const float sample : samples) {
    // NaN and infinite samples are read as zero further on.
    if (std::isfinite(sample)) sum_ += static_cast<double>(sample) * static_cast<double>(sample);
    if (++held_ < kStep) continue;
    steps_.push_back(static_cast<float>(sum_ / kStep));
    sum_ = 0;
    held_ = 0;
  }
}

double SideLevels::power(double start, double end) const {
  const auto count = static_cast<std::int64_t>(steps_.size());
  const auto first = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::floor(start * kStepsPerSecond)), 0, count);
  const auto last = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(end * kStepsPerSecond)), first, count);
  if (first == last) return 0;
  double sum = 0;
  for (std::int64_t i = first; i < last; ++i)
    sum += static_cast<double>(steps_[static_cast<std::size_t>(i)]);
  return sum / static_cast<double>(last - first);
}

std::size_t SideSource::read(std::span<float> out) {
  const std::size_t count = source_->read(out);
  levels_->add(out.first(count));
  return count;
}

}  // namespace diarist::pipeline
