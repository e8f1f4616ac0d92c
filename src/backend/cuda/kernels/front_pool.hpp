#pragma once
// The first stage behind the sinc convolution, and the statistics of all instance norms: moments of
// pieces of a window, written to memory and put together in one fixed order.

#include <cuda_runtime_api.h>

#include <cstdint>

namespace diarist::backend::cuda {

inline constexpr int kFrontSamples = 160000, kFrontFilters = 80;
inline constexpr int kFrontRawRows = 15975, kFrontPooledRows = 5325;
inline constexpr int kWavePieces = 20;      // of a window's samples, for their moments
inline constexpr int kPoolPieceRows = 128;  // pooled rows
inline constexpr int kPoolPieces = (kFrontPooledRows + kPoolPieceRows - 1) / kPoolPieceRows;

/// Mean of a piece, and the sum of its squared distances from that mean.
struct Moments {
  float mean, squares;
};
struct WaveMoments {
  double mean, squares;
};

struct WaveArgs {
  const float* samples = nullptr;
  std::int64_t stride = 0;                  // of a position
  const std::int32_t* positions = nullptr;  // null: window i begins at i
  int first = 0, windows = 0;               // of the positions
  WaveMoments* moments = nullptr;           // [windows][kWavePieces]
};
cudaError_t launch_wave_moments(const WaveArgs& args, cudaStream_t stream);

/// The waveform's norm as a map of raw sinc rows: (raw - shift[c]) * scale + offset[c].
struct RawAffine {
  float shift[kFrontFilters], offset[kFrontFilters], scale, unused[3];
};

struct AffineArgs {
  const WaveMoments* moments = nullptr;
  const double* tap_sums = nullptr;  // [80]
  double weight = 1, bias = 0;
  int windows = 0;
  RawAffine* affine = nullptr;  // [windows]
};
cudaError_t launch_raw_affine(const AffineArgs& args, cudaStream_t stream);

struct SincPoolArgs {
  const float* raw = nullptr;  // 16-byte aligned rows of 80
  std::int64_t stride = 0;
  const std::int32_t* positions = nullptr;
  int first = 0, windows = 0;
  const RawAffine* affine = nullptr;
  float* pooled = nullptr;     // [windows][5325][80]: max of three absolute values
  Moments* moments = nullptr;  // [windows][kPoolPieces][80]
};
cudaError_t launch_front_pool(const SincPoolArgs& args, cudaStream_t stream);

/// Moments of pieces -> what an instance norm subtracts and multiplies with.
struct NormArgs {
  const Moments* moments = nullptr;  // [windows][pieces][channels]
  int pieces = 0, piece_rows = 0, rows = 0, channels = 0;
  const float* weight = nullptr;  // [channels], times whatever scale the rows shall have
  int windows = 0;
  float* means = nullptr;   // [windows][channels]
  float* scales = nullptr;  // [windows][channels]: weight / sqrt(variance + 1e-5)
};
cudaError_t launch_norm_of_moments(const NormArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda
