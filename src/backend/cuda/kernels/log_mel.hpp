#pragma once
// Log-mel rows (models.md (a) steps 1 to 8, campplus.md (a)) over ragged items of samples.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "backend/cuda/kernels/front_items.hpp"
#include "model/blocks.hpp"

namespace diarist::backend::cuda {

inline constexpr int kMelFrame = 400, kMelHop = 160, kMelBands = 80;

/// What a frame is multiplied with, as the kernel reads it.
struct LogMelTables {
  double wave[512][2];  // cos and sin of 2 pi k / 512
  double window[kMelFrame];
  float weight[512];                  // the triangles' weights, band after band
  std::int32_t start[kMelBands + 1];  // of a band in `weight`
  std::int32_t bin[kMelBands];        // first bin of a band
};

/// Computed in double.
LogMelTables log_mel_tables(const model::LogMel& block);

struct LogMelArgs {
  const float* samples = nullptr;
  const LogMelTables* tables = nullptr;  // on the device
  float* rows = nullptr;
  float scale = 1;  // of the samples
  FrontItems items;
};

/// A row's bits depend on its own 400 samples only.
cudaError_t launch_log_mel(const LogMelArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda
