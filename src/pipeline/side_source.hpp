#pragma once
// One side of a recording, and how loud it was when.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "audio/source.hpp"

namespace diarist::pipeline {

/// Mean squares of the samples in steps of 10 ms: 1.4 MB per hour.
class SideLevels {
 public:
  static constexpr std::int64_t kStep = 160;  // samples at 16 kHz

  void add(std::span<const float> samples);
  /// Mean square over [start, end) in seconds of the decoded sound; 0 outside of it.
  double power(double start, double end) const;

 private:
  std::vector<float> steps_;
  double sum_ = 0;         // of the step under way
  std::int64_t held_ = 0;  // samples in it
};

/// Passes a source on and notes its levels, which outlive it.
class SideSource final : public audio::Source {
 public:
  SideSource(std::unique_ptr<audio::Source> source, std::shared_ptr<SideLevels> levels)
      : source_(std::move(source)), levels_(std::move(levels)) {}
  std::size_t read(std::span<float> out) override;
  std::int64_t expected_samples() const noexcept override { return source_->expected_samples(); }
  const std::vector<std::string>& warnings() const noexcept override { return source_->warnings(); }

 private:
  std::unique_ptr<audio::Source> source_;
  std::shared_ptr<SideLevels> levels_;
};

}  // namespace diarist::pipeline
