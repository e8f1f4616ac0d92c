#pragma once
// One worker's queue, buffers and programs: from samples to activity and embeddings.

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "diarist/result.hpp"
#include "diarist/run_control.hpp"
#include "model/bundle.hpp"
#include "pipeline/pair_embedder.hpp"
#include "pipeline/sample_feed.hpp"
#include "pipeline/segmenter.hpp"
#include "pipeline/strip.hpp"

namespace diarist::pipeline {

struct SessionOptions {
  int windows = 8;  // per batch
  int step_seconds = 1;
  Precision precision = Precision::kExact;
};

/// What the networks say about a recording.
struct NetworkResult {
  std::int64_t samples = 0;            // decoded, at 16 kHz
  std::int64_t bad_samples = 0;        // NaN or infinite, read as zero
  int chunks = 0;                      // C
  std::vector<std::uint8_t> activity;  // [C, 589] bits
  std::vector<float> embeddings;       // [C, 3, D]
  std::vector<float> log_mel;          // [rows, 80] when the preset checks turns, else empty
};

/// All buffers are allocated at construction; memory does not grow with the recording except for
/// the results. Used by one thread at a time; must not outlive backend and bundle.
class Session {
 public:
  Session(backend::Backend& backend, const model::Bundle& bundle, const model::Preset& preset,
          const SessionOptions& options);

  /// \param silence_bad_windows windows with NaN or infinite samples count as silence (reference).
  /// Adds to `timings`. \throws Error kCancelled, kBadFile, ...
  NetworkResult run(audio::Source& source, bool silence_bad_windows, const RunControl& control,
                    StageTimings& timings);

  PairEmbedder& embedder() noexcept { return *embedder_; }
  /// False when the buffers lie on a device and don't crowd the host.
  bool in_host_memory() const noexcept { return strip_.in_host_memory(); }
  const SessionOptions& options() const noexcept { return options_; }

 private:
  void fill_strip(SampleFeed& feed);
  void process(NetworkResult& result, const SampleFeed& feed, int windows, bool last,
               bool silence_bad_windows, const RunControl& control, StageTimings& timings);

  SessionOptions options_;
  std::unique_ptr<backend::Queue> queue_;
  Strip strip_;
  Segmenter segmenter_;
  std::unique_ptr<PairEmbedder> embedder_;
  std::vector<float> block_;
};

}  // namespace diarist::pipeline
