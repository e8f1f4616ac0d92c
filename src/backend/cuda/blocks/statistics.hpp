#pragma once
// Mean and variance of columns over time, and what is made of them. Rows are cut into slices of a
// length that depends on the number of columns only; a slice's numbers are taken relative to its
// first row and summed twice, slices are put together in double. A column without variance has
// exactly none.

#include <cuda_runtime_api.h>

#include "backend/cuda/blocks/arrays.hpp"

namespace diarist::backend::cuda::blocks {

/// Rows of a slice, and slices of so many rows.
int slice_rows(int columns);
std::int64_t slice_count(std::int64_t rows, int columns);
/// Floats of one slice.
constexpr int slice_floats(int columns) { return 4 * columns; }

struct MomentsArgs {
  Array<const float> rows;  // [T][columns]
  Array<float> slices;      // doubles [slices][columns][2]: mean, sum of squared differences
  int columns = 0;
};
cudaError_t launch_moments(const MomentsArgs& args, int items, int longest, cudaStream_t stream);

struct FinishArgs {
  Array<const float> rows;  // those of the moments, for their number
  Array<const float> slices;
  int columns = 0;
  /// Table [columns][4] for launch_normalize(): mean, what a float leaves out of it, gain, bias.
  Array<float> table;             // or no base
  const float* weight = nullptr;  // of an instance norm; null: the table only removes the mean
  const float* bias = nullptr;
  /// Means, then deviations with divisor n - 1 (0.01 when n is 1): [2 * columns].
  Array<float> statistics;  // or no base
};
cudaError_t launch_finish(const FinishArgs& args, int items, cudaStream_t stream);

/// The waveform's norm as a correction of the filters' outputs: y = x*gain + shift, each in two
/// floats: [filters][4] = gain, rest of the gain, shift, rest of the shift.
struct WaveArgs {
  Array<const float> samples, slices;  // one column
  Array<float> table;
  const double* tap_sums = nullptr;  // [filters]
  int filters = 0;
  float weight = 1, bias = 0;
};
cudaError_t launch_wave(const WaveArgs& args, int items, cudaStream_t stream);

/// Largest of three rows, then the activation; first the absolute value of x*gain + shift where
/// there is a wave table. A NaN wins.
struct PoolArgs {
  Array<const float> input;
  Array<const float> wave;  // or no base
  Array<float> output;
  int columns = 0;
  float slope = 1;
};
cudaError_t launch_pool(const PoolArgs& args, int items, int longest, cudaStream_t stream);

/// In place: activation((x - mean) * gain + bias).
struct NormalizeArgs {
  Array<float> rows;
  Array<const float> table;
  int columns = 0;
  float slope = 1;
};
cudaError_t launch_normalize(const NormalizeArgs& args, int items, int longest,
                             cudaStream_t stream);

}  // namespace diarist::backend::cuda::blocks
