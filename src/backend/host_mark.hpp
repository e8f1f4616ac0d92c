#pragma once
// Marks of queues whose calls are complete when they return.

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "backend/backend.hpp"

namespace diarist::backend {

/// The part of a Queue that is the same for all host memory.
class HostMarkQueue : public Queue {
 public:
  std::unique_ptr<Mark> make_mark() override { return std::make_unique<TimeMark>(); }
  void set(Mark& mark) override { time_of(mark) = Clock::now(); }
  void wait_for(Mark& /*mark*/) override {}
  double seconds_between(const Mark& from, const Mark& to) override {
    return std::chrono::duration<double>(static_cast<const TimeMark&>(to).time -
                                         static_cast<const TimeMark&>(from).time)
        .count();
  }
  void wait() override {}

 protected:
  static void convert(std::span<const std::int16_t> source, float* target) {
    for (std::size_t i = 0; i < source.size(); ++i)
      target[i] = static_cast<float>(source[i]) * (1.0F / 32768.0F);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct TimeMark final : Mark {
    Clock::time_point time;
  };
  static Clock::time_point& time_of(Mark& mark) { return static_cast<TimeMark&>(mark).time; }
};

}  // namespace diarist::backend
