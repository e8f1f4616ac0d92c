#pragma once
// Many recordings at once: decoding ahead, the devices' sessions, and clustering behind.

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>

#include "audio/source.hpp"
#include "diarist/result.hpp"
#include "pipeline/recording.hpp"
#include "pipeline/session.hpp"

namespace diarist::pipeline {

struct QueueWork {
  std::size_t count = 0;
  bool silence_bad_windows = false;
  bool keep_waveform = false;
  /// Opens a recording, on a decoding thread.
  std::function<std::unique_ptr<audio::Source>(std::size_t index)> open;
  /// Makes the result of what the networks said, on a finishing thread. `session`: whose it was.
  std::function<Diarization(std::size_t index, std::size_t session, Recording& recording)> finish;
  /// Takes results on the calling thread, in the order of the recordings; false: wants no more.
  std::function<bool(std::size_t index, std::optional<Diarization> result,
                     std::exception_ptr error)>
      sink;
  /// Seconds of audio the networks have seen, of all recordings; from one thread at a time.
  std::function<void(double seconds)> progress;
};

struct QueueThreads {
  int decoders = 2;
  int finishers = 2;
};

/// Runs all recordings through the sessions, each on a thread of its own that takes the next
/// recording when it has room. A recording that fails stops nothing; when a session fails, its
/// recordings fail with it and the others go on. \throws Error kCancelled.
void run_queue(std::span<Session* const> sessions, const QueueWork& work,
               const QueueThreads& threads, const std::stop_token& stop);

}  // namespace diarist::pipeline
