#pragma once
// A recording on its way through a session.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "diarist/result.hpp"
#include "pipeline/block_feed.hpp"
#include "pipeline/tape.hpp"

namespace diarist::pipeline {

/// What an embedder remembers of a recording between batches.
class PairState {
 public:
  virtual ~PairState() = default;
};

/// Log-mel rows of a recording, in pages that stay where they are while more are appended. Copies
/// share the pages they have in common.
class LogMelPages {
 public:
  std::int64_t rows() const noexcept { return rows_; }
  /// A new page of so many rows, to be filled by the caller.
  std::span<float> append(std::int64_t rows);
  /// Appends the rows of another from `first` on.
  void append_from(const LogMelPages& other, std::int64_t first);
  /// Calls part(values) for the pieces of rows [first, first + count), in order.
  void for_each_part(std::int64_t first, std::int64_t count,
                     const std::function<void(std::span<const float>)>& part) const;

 private:
  std::vector<std::shared_ptr<std::vector<float>>> pages_;
  std::vector<std::int64_t> first_row_;  // of every page
  std::int64_t rows_ = 0;
};

/// What the networks say about a recording.
struct NetworkResult {
  std::int64_t samples = 0;                  // decoded, at 16 kHz
  std::int64_t bad_samples = 0;              // NaN or infinite, read as zero
  int chunks = 0;                            // C
  std::vector<std::uint8_t> activity;        // [C, 589] bits
  std::vector<float> embeddings;             // [C, 3, D]
  LogMelPages log_mel;                       // when the preset checks turns
  std::shared_ptr<const Waveform> waveform;  // when the feed keeps it
};

/// The caller fills the first part; everything else is the session's until it hands the recording
/// back, complete or with an error.
struct Recording {
  BlockFeed* feed = nullptr;
  /// Windows with NaN or infinite samples count as silence, as in the reference.
  bool silence_bad_windows = false;
  std::function<void(double done_seconds, double total_seconds)> progress;

  NetworkResult result;
  StageTimings timings;
  std::exception_ptr error;

  std::deque<SampleBlock> held;  // samples that later windows need
  std::int64_t decoded = 0;      // samples taken from the feed
  bool ended = false;            // the feed has no more
  bool closed = false;           // all windows are in batches
  int batches = 0;               // under way
  std::unique_ptr<PairState> pairs;
  std::chrono::steady_clock::time_point started;  // when its first window was in a batch
  double busy_before = 0;                         // of the device, at that time
};

}  // namespace diarist::pipeline
