#include "diarist/device_watch.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "backend/profiling.hpp"
#include "backend/registry.hpp"

namespace diarist {
namespace {

using Clock = std::chrono::steady_clock;

// One device and what was seen of it since start().
struct Watched {
  std::string name;
  std::unique_ptr<backend::Meter> meter;
  std::optional<double> joules_before = {};
  int samples = 0, clocks = 0, powers = 0;
  double clock_sum = 0, lowest_clock = 0, power_sum = 0;

  void begin() {
    joules_before = meter->joules();
    samples = clocks = powers = 0;
    clock_sum = lowest_clock = power_sum = 0;
  }

  void sample() {
    const DeviceState state = meter->state();
    ++samples;
    if (state.clock_mhz > 0) {
      lowest_clock = clocks == 0 ? state.clock_mhz : std::min(lowest_clock, state.clock_mhz);
      clock_sum += state.clock_mhz;
      ++clocks;
    }
    if (state.power_watts > 0) {
      power_sum += state.power_watts;
      ++powers;
    }
  }

  DeviceLoad load(double seconds) const {
    DeviceLoad load{.name = name, .seconds = seconds, .samples = samples};
    if (clocks > 0) load.clock_mhz = clock_sum / clocks;
    load.lowest_clock_mhz = lowest_clock;
    if (powers > 0) load.power_watts = power_sum / powers;
    load.joules = load.power_watts * seconds;
    const std::optional<double> joules = meter->joules();
    if (joules && joules_before && *joules > *joules_before && seconds > 0) {
      load.joules = *joules - *joules_before;
      load.power_watts = load.joules / seconds;
    }
    return load;
  }
};

}  // namespace

class [[gnu::visibility("hidden")]] DeviceWatch::Impl {
 public:
  Impl(const std::string& device, double interval_seconds)
      : interval_(std::max(interval_seconds, 0.001)) {
    for (std::string& name : backend::expand_devices(device))
      if (auto meter = backend::make_meter(name))
        devices_.push_back({.name = std::move(name), .meter = std::move(meter)});
  }

  void start() {
    stop();
    for (Watched& device : devices_) device.begin();
    begin_ = Clock::now();
    if (devices_.empty()) return;
    thread_ = std::jthread([this](const std::stop_token& token) {
      std::unique_lock lock(mutex_);
      while (!token.stop_requested()) {
        for (Watched& device : devices_) device.sample();
        changed_.wait_for(lock, token, interval_, [] { return false; });
      }
    });
  }

  std::vector<DeviceLoad> stop() {
    if (!thread_.joinable()) return {};
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    thread_.request_stop();
    thread_.join();
    std::vector<DeviceLoad> loads;
    for (const Watched& device : devices_) loads.push_back(device.load(seconds));
    return loads;
  }

 private:
  std::chrono::duration<double> interval_;
  std::vector<Watched> devices_;
  Clock::time_point begin_;
  std::mutex mutex_;  // for the waiting only
  std::condition_variable_any changed_;
  std::jthread thread_;
};

DeviceWatch::DeviceWatch(const std::string& device, double interval_seconds)
    : impl_(std::make_unique<Impl>(device, interval_seconds)) {}
DeviceWatch::~DeviceWatch() = default;

void DeviceWatch::start() { impl_->start(); }
std::vector<DeviceLoad> DeviceWatch::stop() { return impl_->stop(); }

}  // namespace diarist
