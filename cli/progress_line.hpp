#pragma once
// How far a long run is, on a terminal.

#include <chrono>
#include <string>

#include "diarist/run_control.hpp"

namespace diarist::cli {

/// One line on standard error that is written over; nothing when that is no terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::string name);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& progress);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string name_;
  bool shown_;
  bool dirty_ = false;
  Clock::time_point start_;
};

}  // namespace diarist::cli
