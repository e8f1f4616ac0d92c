#pragma once
/// \file
/// Progress, cancellation and messages of one run.

#include <functional>
#include <stop_token>
#include <string_view>

namespace diarist {

/// How much a line matters.
enum class LogLevel { kDebug, kInfo, kWarning };

/// A snapshot of a run. Seconds are seconds of audio.
struct Progress {
  std::string_view stage;    ///< "networks", "clustering", ...
  double done_seconds = 0;   ///< audio finished in this stage
  double total_seconds = 0;  ///< 0 while the length is not known
};

/// What a caller may hang onto a run. All members are optional; callbacks come from one thread
/// at a time and must not call back into the running object. An exception thrown by a callback
/// ends the run and reaches the caller.
struct RunControl {
  /// Obeyed within 0.1 s in any stage on processors, at the next batch on GPUs, at the next layer
  /// by the reference backend, and by a pipe that gives nothing. What was stopped works as before
  /// afterwards.
  std::stop_token stop;
  std::function<void(const Progress&)> progress;        ///< called about once per batch
  std::function<void(LogLevel, std::string_view)> log;  ///< one line, without line end
};

}  // namespace diarist
