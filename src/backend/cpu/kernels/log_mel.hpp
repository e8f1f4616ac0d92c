#pragma once
// Log-mel features, many frames side by side (models.md (a), campplus.md (a)).

#include <array>
#include <cstdint>
#include <vector>

#include "model/blocks.hpp"

namespace diarist::backend::cpu {

inline constexpr int kFrameSamples = 400;
inline constexpr int kFrameHop = 160;
inline constexpr int kBands = 80;
inline constexpr int kHalf = 256;  // points of the complex transform, and bins that filters read

/// Constants of one front end, in double.
struct LogMelTables {
  explicit LogMelTables(const model::LogMel& block);

  double scale;
  std::array<double, kFrameSamples> window;
  std::array<double, kHalf> cosine, sine;  // of 2*pi*k/512
  std::array<int, kHalf> reversed;         // 8-bit reversal
  /// Non-zero weights of the triangles, one after the other.
  std::array<int, kBands + 1> filter_start;
  std::array<int, kBands> first_bin;
  std::vector<double> filter_weight;
};

struct LogMelKernels {
  std::int64_t target;  // Highway's bit of the set that this table was compiled for
  /// samples [400 + 160*(frames-1) or more] -> out [frames, 80].
  void (*run)(const LogMelTables& tables, const float* samples, std::int64_t frames, float* out);
};

const LogMelKernels& log_mel_kernels(std::int64_t target);

}  // namespace diarist::backend::cpu
