#pragma once
// A lock for what may take a while: who waits for it can be stopped.

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "base/run_control.hpp"

namespace diarist::pipeline {

class Turnstile {
 public:
  /// Inside for as long as it lives.
  class Turn {
   public:
    /// \throws Error kCancelled on a stop while another one is inside.
    Turn(Turnstile& turnstile, const std::stop_token& stop) : turnstile_(turnstile) {
      std::unique_lock lock(turnstile_.mutex_);
      if (!turnstile_.free_.wait(lock, stop, [&] { return !turnstile_.taken_; }))
        base::check_stop(stop);
      turnstile_.taken_ = true;
    }
    ~Turn() {
      {
        const std::lock_guard lock(turnstile_.mutex_);
        turnstile_.taken_ = false;
      }
      turnstile_.free_.notify_one();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Turnstile& turnstile_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable_any free_;
  bool taken_ = false;
};

}  // namespace diarist::pipeline
