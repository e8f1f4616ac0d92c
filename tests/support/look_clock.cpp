#include "support/look_clock.hpp"

#include <atomic>
#include <ctime>
#include <stop_token>

namespace {

std::atomic<double> longest{0};
thread_local double last_look = -1;

double seconds_of_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void note_look() {
  const double now = seconds_of_thread();
  const double stretch = last_look < 0 ? 0 : now - last_look;
  last_look = now;
  double most = longest.load();
  while (stretch > most && !longest.compare_exchange_weak(most, stretch)) {
  }
}

}  // namespace

extern "C" {
void __real__ZN7diarist4base10check_stopERKSt10stop_token(const std::stop_token& stop);

void __wrap__ZN7diarist4base10check_stopERKSt10stop_token(const std::stop_token& stop) {
  note_look();
  __real__ZN7diarist4base10check_stopERKSt10stop_token(stop);
}
}

double diarist::test::longest_without_a_look() {
  note_look();
  return longest.exchange(0);
}
