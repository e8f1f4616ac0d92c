#include "base/task_pool.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cgroup.hpp"
#include "base/error.hpp"

namespace diarist::base {

int usable_processors() {
  int count = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) count = CPU_COUNT(&set);
  if (const int limit = quota_processors(); limit > 0) count = std::min(count, limit);
  return std::clamp(count, 1, kMostThreads);
}

struct TaskPool::State {
  std::mutex call;  // one loop at a time
  std::mutex mutex;
  std::condition_variable wake, idle;
  std::vector<std::thread> threads;
  const std::function<void(std::int64_t, int)>* body = nullptr;
  std::int64_t count = 0;
  std::atomic<std::int64_t> next{0};
  std::uint64_t round = 0;
  int busy = 0;
  bool quit = false;
  std::exception_ptr error;
  const pid_t process = getpid();

  // A child of fork() has this object, but not its threads.
  bool threads_are_elsewhere() const noexcept { return !threads.empty() && getpid() != process; }

  void work(int worker) {
    for (;;) {
      const std::int64_t item = next.fetch_add(1);
      if (item >= count) return;
      try {
        (*body)(item, worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next.store(count);
      }
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      quit = true;
    }
    wake.notify_all();
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }

  void loop(int worker) {
    std::uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return quit || round != seen; });
        if (quit) return;
        seen = round;
      }
      work(worker);
      const std::lock_guard lock(mutex);
      if (--busy == 0) idle.notify_all();
    }
  }
};

TaskPool::TaskPool(int threads) : state_(std::make_unique<State>()) {
  if (threads > kMostThreads)
    fail(ErrorCode::kInvalidArgument, "{} threads: at most {} can be used", threads, kMostThreads);
  try {
    for (int worker = 1; worker < threads; ++worker)
      state_->threads.emplace_back([state = state_.get(), worker] { state->loop(worker); });
  } catch (const std::system_error& error) {
    const std::size_t started = state_->threads.size() + 1;
    state_->stop();
    fail(ErrorCode::kOutOfMemory, "only {} of {} threads can be started ({}); ask for fewer",
         started, threads, error.what());
  }
}

TaskPool::~TaskPool() {
  if (state_->threads_are_elsewhere()) {
    // Nobody will ever leave the locks that the threads held or waited for.
    [[maybe_unused]] const State* const left = state_.release();
    return;
  }
  state_->stop();
}

int TaskPool::threads() const noexcept { return static_cast<int>(state_->threads.size()) + 1; }

void TaskPool::parallel_for(std::int64_t count,
                            const std::function<void(std::int64_t, int)>& body) {
  if (count <= 0) return;
  if (state_->threads_are_elsewhere())
    fail(ErrorCode::kUnsupported,
         "made before fork(): its {} worker threads stayed in the parent process; make it after "
         "fork(), or with one thread",
         state_->threads.size());
  const std::lock_guard call(state_->call);
  {
    const std::lock_guard lock(state_->mutex);
    state_->body = &body;
    state_->count = count;
    state_->next.store(0);
    state_->error = nullptr;
    state_->busy = static_cast<int>(state_->threads.size());
    ++state_->round;
  }
  state_->wake.notify_all();
  state_->work(0);
  std::unique_lock lock(state_->mutex);
  state_->idle.wait(lock, [&] { return state_->busy == 0; });
  if (state_->error) std::rethrow_exception(state_->error);
}

}  // namespace diarist::base
