#pragma once
// What a stream has heard, and what the networks said of it.

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/recording.hpp"
#include "pipeline/waveform_peaks.hpp"

namespace diarist::pipeline {

/// Neighbouring windows that can be heard apart from the rest of the recording.
struct StreamPart {
  std::int64_t first = 0;  // sample
  std::int64_t count = 0;  // samples: those of whole windows
  int settled = 0;         // windows from the front whose results will never change; 0: no part
};

/// A recording as if it had ended after some of the samples.
struct StreamView {
  Recording recording;        // settled windows, the rest of them is to be added
  std::vector<float> tail;    // samples of the windows that are not settled; none: there are none
  std::int64_t settled_rows;  // log-mel rows that will never change
};

/// Settled windows by their results, everything behind them by its samples (16 kHz, not cleaned).
/// Not thread-safe.
class StreamStore {
 public:
  /// \param block_seconds as StreamHost::block_seconds().
  StreamStore(int step_seconds, int block_seconds, bool keep_waveform);

  void append(std::span<const float> samples);
  std::int64_t heard() const noexcept { return first_ + static_cast<std::int64_t>(held_.size()); }
  /// End of the last window that the networks are through with.
  std::int64_t seen() const noexcept;

  /// What the networks can do when so many samples are there.
  StreamPart next(std::int64_t heard) const noexcept;
  std::span<const float> samples(const StreamPart& part) const;
  /// Takes what they said.
  void settle(const StreamPart& part, const Recording& heard);

  /// The recording up to `end`, or further when more is settled. \pre next(end).settled == 0.
  StreamView view(std::int64_t end) const;
  /// Frees everything; heard() and seen() stay.
  void clear();

 private:
  std::int64_t step_;  // samples
  int block_windows_;
  bool keep_waveform_;
  std::vector<float> held_;  // from sample first_ on
  std::int64_t first_ = 0;   // where window result_.chunks begins
  std::int64_t bad_ = 0;     // NaN or infinite, before first_
  WaveformPeaks peaks_;      // of the samples before first_
  NetworkResult result_;
  StageTimings timings_;
};

/// Appends the windows of a view's tail.
void add_tail(const Recording& tail, Recording& whole);

}  // namespace diarist::pipeline
