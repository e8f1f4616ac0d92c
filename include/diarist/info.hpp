#pragma once
/// \file
/// What this build and this machine can do.

#include <string>
#include <vector>

#include "diarist/export.hpp"

namespace diarist {

/// "0.1.0"
DIARIST_API const char* version() noexcept;

/// A named choice of networks and clustering.
struct PresetInfo {
  std::string name;
  std::string bundle;       ///< bundle it needs
  std::string description;  ///< one line
};

/// What this build contains and this machine can run.
struct BuildInfo {
  std::vector<PresetInfo> presets;
  std::vector<std::string> cpu_targets_supported;  ///< instruction sets of this machine, best first
  std::vector<std::string> cpu_targets_compiled;   ///< instruction sets in this build
  /// Instructions for the bf16 products of Precision::kFast on this processor ("AMX_BF16",
  /// "AVX512_BF16"), best first; empty: fast mode is an error on the CPU.
  std::vector<std::string> cpu_bf16_supported;
  std::vector<std::string> devices;        ///< "cpu", "reference", ...
  std::vector<std::string> audio_readers;  ///< "libsndfile 1.2.0", "FFmpeg 59..."
};

/// Looks at this build and this machine.
DIARIST_API BuildInfo build_info();

}  // namespace diarist
