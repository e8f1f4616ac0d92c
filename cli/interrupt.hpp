#pragma once
// Ctrl-C as a stop token.

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

namespace diarist::cli {

/// While it lives, SIGINT and SIGTERM request a stop. Where nobody looks at the token for `grace`
/// (a read that blocks), the process says what was done and ends; an output
/// that is being written is finished first. A second signal ends the process at once.
/// Make it before any other thread: the signals must be blocked in all of them.
class InterruptGuard {
 public:
  explicit InterruptGuard(std::chrono::milliseconds grace = std::chrono::milliseconds(1000));
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  std::stop_token token() const noexcept { return stop_.get_token(); }

  /// While it lives there is nothing to finish and nobody looks at the token (a model that loads):
  /// the first signal ends the process at once.
  class Loading {
   public:
    explicit Loading(const InterruptGuard& guard) : guard_(guard) { guard_.loading_ = true; }
    ~Loading() { guard_.loading_ = false; }
    Loading(const Loading&) = delete;
    Loading& operator=(const Loading&) = delete;

   private:
    const InterruptGuard& guard_;
  };

 private:
  void wait(const std::stop_token& quit, std::chrono::milliseconds grace);

  std::stop_source stop_;
  mutable std::atomic<bool> loading_ = false;
  std::jthread waiter_;
};

/// 130 after SIGINT, 143 after SIGTERM: exit code of an interrupted call.
int interrupted_exit_code();

/// Says on standard error that the call was interrupted and what is done.
void tell_interrupted();

}  // namespace diarist::cli
