#pragma once
/// \file
/// Clock, power and energy of GPUs while something runs on them.

#include <memory>
#include <string>
#include <vector>

#include "diarist/export.hpp"

namespace diarist {

/// One device between start() and stop(). What it does not tell stays 0.
struct DeviceLoad {
  std::string name;             ///< "cuda:0"
  double seconds = 0;           ///< that it was watched
  int samples = 0;              ///< of clock and power
  double clock_mhz = 0;         ///< of the multiprocessors, mean
  double lowest_clock_mhz = 0;  ///< of the samples
  double power_watts = 0;       ///< mean
  double joules = 0;            ///< by the device's own counter, or mean power times seconds
};

/// Asks the driver's management library, from a thread of its own. Used by one thread at a time.
///
///     diarist::DeviceWatch watch("cuda");
///     watch.start();
///     diarizer.run_files(...);
///     for (const diarist::DeviceLoad& load : watch.stop()) ...
class DIARIST_API DeviceWatch {
 public:
  /// \param device as in DiarizerOptions. Where devices tell nothing (CPUs, no such library), there
  /// is nothing to watch, which is no error.
  explicit DeviceWatch(const std::string& device, double interval_seconds = 0.02);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

  void start();
  /// One entry per device that tells something, in the order of their names' list.
  std::vector<DeviceLoad> stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace diarist
