#pragma once
/// \file
/// What this build and this machine can do.

#include <string>
#include <vector>

namespace diarist {

/// "0.1.0"
const char* version() noexcept;

struct PresetInfo {
  std::string name;
  std::string bundle;       ///< bundle it needs
  std::string description;  ///< one line
};

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

BuildInfo build_info();

}  // namespace diarist
