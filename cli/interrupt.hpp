#pragma once
// Ctrl-C as a stop token.

#include <stop_token>
#include <thread>

namespace diarist::cli {

/// While it lives, SIGINT and SIGTERM request a stop; a second signal ends the process at once.
/// Make it before any other thread: the signals must be blocked in all of them.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  std::stop_token token() const noexcept { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::jthread waiter_;
};

}  // namespace diarist::cli
