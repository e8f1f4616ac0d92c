#pragma once
// Figures of `diarist bench run` as a table for people and as JSON.

#include <string>
#include <vector>

#include "diarist/device_watch.hpp"
#include "diarist/result.hpp"

namespace diarist::cli {

/// The whole list of recordings once.
struct RunPass {
  RunReport report;
  std::vector<DeviceLoad> loads;  // empty where devices tell nothing
  int turns = 0, speakers = 0;    // sums over the recordings
  double processor_seconds = 0;   // of all threads of this process
};

struct RunBenchReport {
  int files = 0;
  int warm_up = 0;             // passes before the first of `passes`
  double load_seconds = 0;     // models, kernels, buffers
  double peak_bytes = 0;       // most memory of this process that was resident, loading included
  std::string replay;          // folder of the stages that were clustered; empty: the networks' own
  EffectiveSettings settings;  // of the first recording
  std::vector<RunPass> passes;
};

std::string table_text(const RunBenchReport& report);
std::string json_text(const RunBenchReport& report);

}  // namespace diarist::cli
