#pragma once
// A recording's samples in blocks, decoded by the thread that asks or ahead of it by another one.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "audio/source.hpp"
#include "diarist/waveform.hpp"
#include "pipeline/sample_feed.hpp"
#include "pipeline/waveform_peaks.hpp"

namespace diarist::pipeline {

/// Consecutive samples, in 16 bits where that loses nothing: half of the bytes for a device.
struct SampleBlock {
  std::int64_t first = 0;           // of the recording
  std::int64_t count = 0;           // in one of the two
  std::vector<std::int16_t> pcm16;  // sample * 32768
  std::vector<float> samples;
};

/// One reader; at most one thread that decodes ahead of it.
class BlockFeed {
 public:
  /// \param pack make 16-bit blocks where possible. \param source outlives the feed.
  BlockFeed(audio::Source& source, bool pack) : source_(source), feed_(source), pack_(pack) {}

  /// Remembers peaks of what is decoded; before the first block.
  void keep_waveform() { peaks_.emplace(); }
  /// Says that another thread will call decode_ahead(); before the first next().
  void expect_decoder() { ahead_ = true; }
  /// Decodes until the end, an error or abandon(); waits while enough blocks are ready.
  void decode_ahead(const std::stop_token& stop);
  /// The next block, or nothing at the end. \throws what decoding threw.
  std::optional<SampleBlock> next();
  /// True when next() would not wait for a decoder's first block.
  bool started();
  /// The reader wants no more: the decoder may end.
  void abandon();

  /// After the end of the recording.
  std::int64_t samples() const noexcept { return feed_.taken(); }
  std::int64_t bad_count() const noexcept { return feed_.bad_count(); }
  /// What keep_waveform() asked for, null otherwise.
  std::shared_ptr<const Waveform> take_waveform() {
    return peaks_ ? std::make_shared<const Waveform>(peaks_->finish()) : nullptr;
  }
  bool bad_in(std::int64_t first, std::int64_t last) const noexcept {
    return feed_.bad_in(first, last);
  }
  double seconds_reading() const noexcept { return feed_.seconds_reading(); }
  std::int64_t expected_samples() const noexcept { return source_.expected_samples(); }
  const std::vector<std::string>& warnings() const noexcept { return source_.warnings(); }

 private:
  std::optional<SampleBlock> decode();

  audio::Source& source_;
  SampleFeed feed_;
  bool pack_;
  std::vector<float> scratch_;  // of decode()
  std::optional<WaveformPeaks> peaks_;
  bool ahead_ = false;
  std::mutex mutex_;  // of everything below
  std::condition_variable_any changed_;
  std::deque<SampleBlock> ready_;
  bool ended_ = false, abandoned_ = false;
  std::exception_ptr error_;
};

}  // namespace diarist::pipeline
