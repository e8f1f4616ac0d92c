#include "pipeline/block_feed.hpp"

#include <bit>
#include <utility>

#include "base/run_control.hpp"

namespace diarist::pipeline {
namespace {

constexpr std::size_t kBlock = 160000;  // 10 s
// Ahead of a device that is quicker than one decoder: 67 minutes, 128 MB in 16 bits.
constexpr std::size_t kMostReady = 400;

// Fills `packed` and returns true when every sample (all of them finite) is a 16-bit number over
// 32768. Integer operations only, so that compilers vectorize it: otherwise it takes as long as all
// other decoding. Adding 1.5 * 2^23 leaves the rounded number in the low bits of the sum.
bool pack_16(std::span<const float> samples, std::vector<std::int16_t>& packed) {
  packed.resize(samples.size());
  const float* const from = samples.data();
  std::int16_t* const to = packed.data();
  const std::size_t count = samples.size();
  std::uint32_t lost = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float scaled = from[i] * 32768.0F;
    const std::uint32_t sum = std::bit_cast<std::uint32_t>(scaled + 12582912.0F);
    const auto value = static_cast<std::int32_t>(sum - 0x4B400000U);
    to[i] = static_cast<std::int16_t>(value);
    const std::uint32_t back = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    lost |= (back ^ std::bit_cast<std::uint32_t>(scaled)) |
            ((static_cast<std::uint32_t>(value) + 32768U) & 0xFFFF0000U);
  }
  return lost == 0;
}

}  // namespace

std::optional<SampleBlock> BlockFeed::decode() {
  SampleBlock block;
  block.first = feed_.taken();
  scratch_.resize(kBlock);
  const std::span<const float> samples =
      std::span<const float>(scratch_).first(feed_.take(scratch_));
  if (samples.empty()) return std::nullopt;
  block.count = static_cast<std::int64_t>(samples.size());
  if (peaks_) peaks_->add(samples);
  if (pack_ && pack_16(samples, block.pcm16)) return block;
  block.pcm16 = {};
  block.samples.assign(samples.begin(), samples.end());
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
