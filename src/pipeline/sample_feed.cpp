#include "pipeline/sample_feed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "pipeline/stopwatch.hpp"

namespace diarist::pipeline {
namespace {

constexpr std::size_t kBlock = 16000;
// Positions are remembered with this resolution: windows start and end at multiples of it.
constexpr std::int64_t kBadStretch = 16000;

}  // namespace

SampleFeed::SampleFeed(audio::Source& source) : source_(source), block_(kBlock) {}

bool SampleFeed::refill() {
  if (end_) return false;
  const Stopwatch watch(seconds_);
  used_ = 0;
  filled_ = source_.read(block_);
  if (filled_ == 0) {
    end_ = true;
    return false;
  }
  // Almost no block has such a sample, and this loop is quick.
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < filled_; ++i) {
    const std::uint32_t exponent = std::bit_cast<std::uint32_t>(block_[i]) & 0x7F800000U;
    bad |= static_cast<std::uint32_t>(exponent == 0x7F800000U);
  }
  for (std::size_t i = 0; bad != 0 && i < filled_; ++i) {
    if (std::isfinite(block_[i])) continue;
    block_[i] = 0.0F;
    ++bad_count_;
    const std::int64_t position = read_ + static_cast<std::int64_t>(i);
    if (bad_.empty() || bad_.back() / kBadStretch != position / kBadStretch)
      bad_.push_back(position);
  }
  read_ += static_cast<std::int64_t>(filled_);
  return true;
}

std::size_t SampleFeed::take(std::span<float> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    if (used_ == filled_ && !refill()) break;
    const std::size_t count = std::min(out.size() - done, filled_ - used_);
    std::copy_n(block_.begin() + static_cast<std::ptrdiff_t>(used_), count,
                out.begin() + static_cast<std::ptrdiff_t>(done));
    used_ += count;
    done += count;
  }
  taken_ += static_cast<std::int64_t>(done);
  return done;
}

bool SampleFeed::exhausted() { return used_ == filled_ && !refill(); }

bool SampleFeed::bad_in(std::int64_t first, std::int64_t last) const noexcept {
  const auto it = std::lower_bound(bad_.begin(), bad_.end(), first);
  return it != bad_.end() && *it < last;
}

}  // namespace diarist::pipeline
