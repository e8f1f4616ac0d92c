#pragma once
// Work of the engine on a thread of its own, so that the thread that asked for it may look for
// signals (Ctrl-C) and call back into Python while it waits.

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>

#include "diarist/diarizer.hpp"
#include "diarist/run_control.hpp"

namespace diarist::python {

/// A snapshot of a run that owns its text.
struct ProgressEvent {
  std::string stage;
  double done_seconds = 0;
  double total_seconds = 0;
};

/// One line of the engine.
struct LogEvent {
  LogLevel level = LogLevel::kInfo;
  std::string text;
};

using Event = std::variant<ProgressEvent, LogEvent, FileOutcome>;

/// What a caller hangs onto a run; all may be None.
struct Callbacks {
  nanobind::object progress = nanobind::none();  ///< progress(stage, done, total)
  nanobind::object log = nanobind::none();       ///< log(level, text)
};

/// What Python holds to stop a run from another thread.
struct Stopper {
  std::stop_source source;
};

/// Everything but the work itself runs on the caller's thread with the GIL held.
class Job {
 public:
  /// Gets the control to hand to the engine, and the door for outcomes: false asks it to end.
  using Sink = std::function<bool(FileOutcome)>;
  using Work = std::function<void(const RunControl&, const Sink&)>;

  /// \param stopper ends the work as well; may be null.
  /// \param backlog outcomes that may wait for the caller before the work pauses.
  Job(Work work, Callbacks callbacks, const Stopper* stopper, std::size_t backlog = 16);
  /// Stops the work and waits for its end.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Waits without the GIL for the next outcome, calling back meanwhile; none: the work is done.
  /// Throws what the work threw, or what a callback or a signal handler raised; then the work has
  /// ended.
  std::optional<FileOutcome> next();

  /// next() until the end.
  void finish();

  /// False in a child of fork(), which has no such thread: the job must not be destroyed there.
  bool is_of_this_process() const noexcept;

 private:
  enum class Wake { kEvent, kEnd, kTick };

  void work_and_report(const Work& work);
  void push(Event event);
  bool push_outcome(FileOutcome outcome);
  Wake wait(std::optional<Event>& event);
  void call_back(const Event& event) const;
  void stop_and_join();

  Callbacks callbacks_;
  std::size_t backlog_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;   // guarded by mutex_
  std::size_t outcomes_ = 0;   // among events_
  bool ended_ = false;         // guarded by mutex_
  std::exception_ptr thrown_;  // read after ended_
  std::stop_source stop_;
  std::optional<std::stop_callback<std::function<void()>>> chained_;
  std::thread thread_;
  long process_;  // a child of fork() has no such thread
};

/// Ends every job and waits for it; called before the interpreter ends.
void stop_all_jobs();

/// Called in a child of fork(): the jobs are those of the parent.
void forget_jobs();

}  // namespace diarist::python
