#pragma once
// What a Stream asks of the Diarizer that it was made of.

#include <stop_token>
#include <string>
#include <vector>

#include "audio/source.hpp"
#include "diarist/options.hpp"
#include "diarist/result.hpp"
#include "diarist/run_control.hpp"
#include "pipeline/piece_memory.hpp"
#include "pipeline/recording.hpp"

namespace diarist::pipeline {

/// Safe to use from many threads.
class StreamHost {
 public:
  virtual ~StreamHost() = default;

  /// Vectors of windows that begin in a block of so many seconds are complete when the window at
  /// the next block's start was heard, and do not depend on earlier blocks. 0: a window's vectors
  /// depend on its own samples alone.
  virtual int block_seconds() const noexcept = 0;
  /// The networks over a stretch, as if it were a recording, with a session that is free
  /// afterwards. \throws what Diarizer::run() throws.
  virtual void hear(audio::Source& stretch, const RunOptions& options, const std::stop_token& stop,
                    Recording& recording) = 0;
  /// Everything behind the networks.
  virtual Diarization conclude(Recording& recording, const std::vector<std::string>& warnings,
                               const RunOptions& options, const RunControl& control,
                               const SettledPieces& pieces) = 0;
};

}  // namespace diarist::pipeline
