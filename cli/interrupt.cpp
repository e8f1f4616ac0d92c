#include "interrupt.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "commands.hpp"

namespace diarist::cli {
namespace {

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::jthread([this](const std::stop_token& quit) {
    const sigset_t waited = interrupts();
    const timespec pause{0, 50'000'000};
    while (!quit.stop_requested()) {
      if (sigtimedwait(&waited, nullptr, &pause) < 0) continue;
      if (stop_.stop_requested()) _exit(kInterrupted);
      stop_.request_stop();
    }
  });
}

InterruptGuard::~InterruptGuard() {
  waiter_.request_stop();
  waiter_.join();
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace diarist::cli
