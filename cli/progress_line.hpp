#pragma once
// How far a long run is: a line on a terminal, or events for programs.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "diarist/run_control.hpp"

namespace diarist::cli {

/// One line on standard error for all recordings of a call, written over again and again; nothing
/// when that is no terminal, or with --quiet. With --json-progress: events instead (docs/cli.md).
/// Not thread-safe; RunControl calls from one thread at a time.
class ProgressLine {
 public:
  explicit ProgressLine(std::vector<std::string> recordings);
  explicit ProgressLine(std::string recording)
      : ProgressLine(std::vector<std::string>{std::move(recording)}) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Work on this recording starts: show() speaks of it from now on. Without any call (recordings
  /// that are worked on together) show() speaks of all.
  void start(std::size_t index);
  void show(const Progress& progress);
  /// The recording is done, with so many seconds of audio, or has failed.
  void finish(std::size_t index, double audio_seconds);
  void fail(std::size_t index);
  /// Takes the line off the terminal before something else is written there.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  struct Figures {
    double elapsed = 0;   // seconds
    double audio = 0;     // seconds of audio done, of all recordings
    double fraction = 0;  // of the whole call; negative: not known
    double rate = 0;      // x real time
    double left = -1;     // seconds; negative: not known
  };

  Figures figures(const Progress& progress) const;
  void close(std::size_t index, double audio_seconds);
  void draw(const Progress& progress, const Figures& now);
  void emit(const Progress& progress, const Figures& now) const;

  std::vector<std::string> names_;
  std::vector<double> weights_;  // share of each recording in the whole
  std::size_t current_;          // names_.size(): all together
  std::size_t closed_ = 0;
  double closed_weight_ = 0;
  double closed_audio_ = 0;
  bool drawn_;
  bool events_;
  std::string last_stage_;
  Clock::time_point start_;
  Clock::time_point next_{};
};

}  // namespace diarist::cli
