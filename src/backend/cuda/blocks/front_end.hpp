#pragma once
// Log-mel features of samples.

#include <cuda_runtime_api.h>

#include <array>
#include <vector>

#include "backend/cuda/blocks/arrays.hpp"

namespace diarist::backend::cuda::blocks {

inline constexpr int kFrameSamples = 400, kFrameHop = 160, kBands = 80;

/// The kernel's constants in one block of memory: window, twiddles, filters.
struct LogMelTables {
  double window[kFrameSamples];
  double cosine[256], sine[256];  // of 2*pi*k/512
  int first_bin[kBands];          // of a band's triangle
  int first_weight[kBands + 1];   // into weights
  double weights[512];            // of all triangles
};
LogMelTables make_log_mel_tables(bool hamming);

/// Rows of 80 bands; one per 160 samples. The whole arithmetic is double: bands far below the
/// loudest one keep their digits, and a front end runs once per recording.
struct LogMelArgs {
  Array<const float> samples;
  Array<float> rows;
  const LogMelTables* tables = nullptr;  // on the device
  double scale = 1;                      // of the samples
};
cudaError_t launch_log_mel(const LogMelArgs& args, int items, int longest, cudaStream_t stream);

}  // namespace diarist::backend::cuda::blocks
