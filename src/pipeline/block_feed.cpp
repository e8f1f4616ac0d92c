#include "pipeline/block_feed.hpp"

#include <cmath>
#include <utility>

#include "base/run_control.hpp"

namespace diarist::pipeline {
namespace {

constexpr std::size_t kBlock = 160000;  // 10 s
constexpr std::size_t kMostReady = 90;  // 15 minutes, 29 MB in 16 bits

// Fills `packed` and returns true when every sample is a 16-bit number over 32768.
bool pack_16(std::span<const float> samples, std::vector<std::int16_t>& packed) {
  packed.resize(samples.size());
  int lost = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const float scaled = samples[i] * 32768.0F;
    const float bounded = std::fmin(std::fmax(scaled, -32768.0F), 32767.0F);
    const int value = static_cast<int>(bounded);
    packed[i] = static_cast<std::int16_t>(value);
    lost |= static_cast<float>(value) != scaled ? 1 : 0;
  }
  return lost == 0;
}

}  // namespace

std::optional<SampleBlock> BlockFeed::decode() {
  SampleBlock block;
  block.first = feed_.taken();
  block.samples.resize(kBlock);
  const std::size_t count = feed_.take(block.samples);
  if (count == 0) return std::nullopt;
  block.samples.resize(count);
  block.count = static_cast<std::int64_t>(count);
  if (pack_ && pack_16(block.samples, block.pcm16))
    block.samples = {};
  else
    block.pcm16 = {};
  return block;
}

void BlockFeed::decode_ahead(const std::stop_token& stop) {
  try {
    for (;;) {
      base::check_stop(stop);
      std::optional<SampleBlock> block = decode();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [&] { return ready_.size() < kMostReady || abandoned_; });
      if (abandoned_ || stop.stop_requested()) break;
      if (!block) break;
      ready_.push_back(*std::move(block));
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    error_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  if (stop.stop_requested() && !error_)
    error_ = std::make_exception_ptr(Error(ErrorCode::kCancelled, "stopped"));
  ended_ = true;
  changed_.notify_all();
}

std::optional<SampleBlock> BlockFeed::next() {
  if (!ahead_) return decode();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty() || ended_; });
  if (ready_.empty()) {
    if (error_) std::rethrow_exception(error_);
    return std::nullopt;
  }
  SampleBlock block = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return block;
}

bool BlockFeed::started() {
  if (!ahead_) return true;
  const std::lock_guard lock(mutex_);
  return !ready_.empty() || ended_;
}

void BlockFeed::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

}  // namespace diarist::pipeline
