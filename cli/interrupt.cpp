#include "interrupt.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>

#include "output_files.hpp"
#include "work_done.hpp"

namespace diarist::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<int> last_signal{SIGINT};
std::atomic<bool> told{false};

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

// Nothing may be half written when the process goes; a disk that hangs does not hold it for ever.
[[noreturn]] void end_now(std::chrono::milliseconds patience) {
  std::unique_lock lock(output_mutex(), std::defer_lock);
  static_cast<void>(lock.try_lock_for(patience));
  tell_interrupted();
  tell_end(interrupted_exit_code());
  _exit(interrupted_exit_code());
}

}  // namespace

InterruptGuard::InterruptGuard(std::chrono::milliseconds grace) {
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::jthread([this, grace](const std::stop_token& quit) { wait(quit, grace); });
}

void InterruptGuard::wait(const std::stop_token& quit, std::chrono::milliseconds grace) {
  const sigset_t waited = interrupts();
  const timespec pause{0, 50'000'000};
  Clock::time_point deadline{};
  while (!quit.stop_requested()) {
    const int signal = sigtimedwait(&waited, nullptr, &pause);
    if (stop_.stop_requested()) {
      if (signal > 0) end_now(std::chrono::milliseconds(200));
      if (Clock::now() >= deadline) end_now(std::chrono::seconds(10));
    } else if (signal > 0) {
      last_signal = signal;
      if (loading_) end_now(std::chrono::milliseconds(200));
      deadline = Clock::now() + grace;
      stop_.request_stop();
    }
  }
}

InterruptGuard::~InterruptGuard() {
  waiter_.request_stop();
  waiter_.join();
  // An interrupted call is about to end with its own exit code; one signal more must not change it.
  if (stop_.stop_requested()) return;
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

int interrupted_exit_code() { return 128 + last_signal; }

void tell_interrupted() {
  if (told.exchange(true)) return;
  const std::string done = work_text();
  clear_progress();
  complain(done.empty() ? "interrupted" : "interrupted: " + done);
}

}  // namespace diarist::cli
