#include "job.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace diarist::python {

namespace {

// How long a pending signal may go unseen.
constexpr std::chrono::milliseconds kTick{50};

// How long the end of the interpreter waits for callbacks that do not return.
constexpr std::chrono::seconds kLastCallbacks{5};

// Jobs whose work may still run, and threads that wait for one.
struct Register {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::stop_source> sources;
  int waiting = 0;
  bool closed = false;  // the interpreter ends
};

// Never deleted: threads may end late, and a child of fork() may find the mutex locked.
Register* kept_register = new Register;

Register& jobs() { return *kept_register; }

void enter(const std::stop_source& source) {
  const std::lock_guard lock(jobs().mutex);
  if (jobs().closed) throw Error(ErrorCode::kCancelled, "the interpreter ends; no run can begin");
  jobs().sources.push_back(source);
}

void leave(const std::stop_source& source) {
  const std::lock_guard lock(jobs().mutex);
  auto& sources = jobs().sources;
  sources.erase(std::find(sources.begin(), sources.end(), source));
  jobs().changed.notify_all();
}

// The interpreter ends its daemon threads where they ask for the lock, which frames of C++ do not
// survive. So it waits for them to be back in Python's own.
class Waiting {
 public:
  Waiting() {
    const std::lock_guard lock(jobs().mutex);
    ++jobs().waiting;
  }
  ~Waiting() {
    const std::lock_guard lock(jobs().mutex);
    --jobs().waiting;
    jobs().changed.notify_all();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    default:
      return "warning";
  }
}

}  // namespace

Job::Job(Work work, Callbacks callbacks, const Stopper* stopper, std::size_t backlog)
    : callbacks_(std::move(callbacks)), backlog_(backlog), process_(getpid()) {
  if (stopper != nullptr)
    chained_.emplace(stopper->source.get_token(),
                     [source = stop_]() mutable { source.request_stop(); });
  enter(stop_);
  try {
    thread_ = std::thread([this, work = std::move(work)] { work_and_report(work); });
  } catch (...) {
    leave(stop_);
    throw;
  }
}

Job::~Job() {
  if (!thread_.joinable()) return;
  const nb::gil_scoped_release release;
  stop_and_join();
}

bool Job::is_of_this_process() const noexcept { return process_ == getpid(); }

void Job::work_and_report(const Work& work) {
  RunControl control{.stop = stop_.get_token()};
  if (!callbacks_.progress.is_none())
    control.progress = [this](const Progress& at) {
      push(ProgressEvent{std::string(at.stage), at.done_seconds, at.total_seconds});
    };
  if (!callbacks_.log.is_none())
    control.log = [this](LogLevel level, std::string_view text) {
      push(LogEvent{level, std::string(text)});
    };
  std::exception_ptr thrown;
  try {
    work(control, [this](FileOutcome outcome) { return push_outcome(std::move(outcome)); });
  } catch (...) {
    thrown = std::current_exception();
  }
  leave(stop_);
  const std::lock_guard lock(mutex_);
  thrown_ = thrown;
  ended_ = true;
  changed_.notify_all();
}

void Job::push(Event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  changed_.notify_all();
}

bool Job::push_outcome(FileOutcome outcome) {
  const std::stop_callback wake(stop_.get_token(), [this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return outcomes_ < backlog_ || stop_.stop_requested(); });
  if (stop_.stop_requested()) return false;
  events_.push_back(std::move(outcome));
  ++outcomes_;
  changed_.notify_all();
  return true;
}

Job::Wake Job::wait(std::optional<Event>& event) {
  const nb::gil_scoped_release release;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kTick, [this] { return !events_.empty() || ended_; });
  if (!events_.empty()) {
    event.emplace(std::move(events_.front()));
    events_.pop_front();
    if (std::holds_alternative<FileOutcome>(*event)) --outcomes_;
    changed_.notify_all();
    return Wake::kEvent;
  }
  return ended_ ? Wake::kEnd : Wake::kTick;
}

void Job::call_back(const Event& event) const {
  if (const auto* at = std::get_if<ProgressEvent>(&event))
    callbacks_.progress(at->stage.c_str(), at->done_seconds, at->total_seconds);
  else if (const auto* line = std::get_if<LogEvent>(&event))
    callbacks_.log(level_name(line->level),
                   nb::steal(PyUnicode_DecodeUTF8(
                       line->text.data(), static_cast<Py_ssize_t>(line->text.size()), "replace")));
}

void Job::stop_and_join() {
  stop_.request_stop();
  thread_.join();
}

std::optional<FileOutcome> Job::next() {
  if (!thread_.joinable()) return std::nullopt;
  if (!is_of_this_process())
    throw Error(ErrorCode::kUnsupported,
                "this run was begun before a fork and goes on in the parent only");
  const Waiting waiting;
  for (;;) {
    std::optional<Event> event;
    const Wake wake = wait(event);
    if (wake == Wake::kEnd) {
      {
        const nb::gil_scoped_release release;
        thread_.join();
      }
      if (thrown_) std::rethrow_exception(thrown_);
      return std::nullopt;
    }
    if (wake == Wake::kEvent && std::holds_alternative<FileOutcome>(*event))
      return std::get<FileOutcome>(std::move(*event));
    try {
      if (wake == Wake::kEvent) call_back(*event);
      // Does nothing but on the main thread; there it runs Python's handlers.
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    } catch (...) {
      const nb::gil_scoped_release release;
      stop_and_join();
      throw;
    }
  }
}

void Job::finish() {
  while (next()) continue;
}

void stop_all_jobs() {
  const nb::gil_scoped_release release;
  std::unique_lock lock(jobs().mutex);
  jobs().closed = true;
  // Copies: a source's callbacks may leave the register.
  std::vector<std::stop_source> sources = jobs().sources;
  lock.unlock();
  for (std::stop_source& source : sources) source.request_stop();
  lock.lock();
  jobs().changed.wait(lock, [] { return jobs().sources.empty(); });
  jobs().changed.wait_for(lock, kLastCallbacks, [] { return jobs().waiting == 0; });
}

void forget_jobs() { kept_register = new Register; }

}  // namespace diarist::python
