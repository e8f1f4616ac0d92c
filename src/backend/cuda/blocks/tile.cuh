#pragma once
// The product engine of this folder: a CTA makes kRows x kOutputs numbers of a matrix product, a
// thread eight rows times kWide outputs, four or eight: with eight, shared memory hands fewer bytes
// to registers for what is multiplied, but there are half as many threads. The inner dimension goes
// in slabs of 16: while one slab is summed from one buffer of shared memory, the next is on its way
// through registers to the other. Every number is one chain of fused multiply-adds in the order of
// the inner dimension, whatever the tile: its bits depend on nothing but its own row and column.
//
// Weights: [steps * 16][output_pitch], a slab never crosses a tap. A Source gives the left operand:
//   bool kAlongRows: neighbours in memory are rows (maps), not inner indices (rows of features);
//     then a thread is asked for rows of its own only
//   void seek(int tap, int c, int row): where the thread's next loads begin
//   float load(int rows, int inner): so many rows or inner indices further, zero outside
//   float finish(float x): what becomes of it; called when it has arrived, before the next seek().

namespace diarist::backend::cuda::blocks {

inline constexpr int kSlab = 16;

template <int kTileRows, int kTileOutputs, int kTileWide>
struct Tile {
  static constexpr int kRows = kTileRows, kOutputs = kTileOutputs, kWide = kTileWide;
  static constexpr int kThreads = kRows / 8 * (kOutputs / kWide);
  static constexpr int kPitch = kRows + 4;  // floats; keeps columns off one bank
  static constexpr int kLoads = kRows * kSlab / kThreads;
  static constexpr int kWeightLoads = kSlab * kOutputs / 4 / kThreads;
  static_assert(kLoads * kThreads == kRows * kSlab);
  static_assert(kWeightLoads * kThreads * 4 == kSlab * kOutputs);
  /// Rows that a thread loads of a map.
  static constexpr int kRowParts = kRows > kThreads ? kRows / kThreads : 1;
  static_assert(kThreads % kSlab == 0 && (kThreads % kRows == 0 || kRows % kThreads == 0));

  __align__(16) float rows[2][kSlab][kPitch];
  __align__(16) float weights[2][kSlab][kOutputs];

  /// A thread's sums [i][j] belong to row first_row() + row_of(i), output first_output() +
  /// output_of(j).
  template <bool kAlongRows>
  static __device__ __forceinline__ int first_row() {
    return (kAlongRows ? threadIdx.x % (kRows / 8) : threadIdx.x / (kOutputs / kWide)) * 4;
  }
  template <bool kAlongRows>
  static __device__ __forceinline__ int first_output() {
    return (kAlongRows ? threadIdx.x / (kRows / 8) : threadIdx.x % (kOutputs / kWide)) * 4;
  }
  static __device__ __forceinline__ int row_of(int i) { return i % 4 + i / 4 * (kRows / 2); }
  static __device__ __forceinline__ int output_of(int j) { return j % 4 + j / 4 * (kOutputs / 2); }
};

template <typename T, typename Source>
__device__ __forceinline__ void multiply(T& tile, Source& source, const float* weights,
                                         int output_pitch, int taps, int slabs,
                                         float (&sum)[8][T::kWide]) {
  constexpr int kRows = T::kRows, kOutputs = T::kOutputs, kWide = T::kWide;
  constexpr bool kAlong = Source::kAlongRows;
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = T::template first_row<kAlong>();
  const int output0 = T::template first_output<kAlong>();
  // A thread loads element (row, k) of every slab, and others at these distances.
  const int load_row = kAlong ? thread % kRows : thread / kSlab;
  const int load_k = kAlong ? thread / kRows : thread % kSlab;
  constexpr int kParts = kAlong ? T::kRowParts : T::kLoads;
  constexpr int kRowStep = kAlong ? T::kThreads : T::kThreads / kSlab;
  constexpr int kInnerStep = kAlong && T::kThreads > kRows ? T::kThreads / kRows : 1;
  float next[T::kLoads];
  float4 next_weights[T::kWeightLoads];
  int tap = 0, slab = 0;
  const auto fetch = [&](int step) {
    source.seek(tap, slab * kSlab + load_k, load_row);
    if (++slab == slabs) {
      slab = 0;
      ++tap;
    }
#pragma unroll
    for (int i = 0; i < T::kLoads; ++i)
      next[i] = source.load(i % kParts * kRowStep, i / kParts * kInnerStep);
    const float* from = weights + static_cast<std::size_t>(step) * kSlab * output_pitch;
#pragma unroll
    for (int i = 0; i < T::kWeightLoads; ++i) {
      const int index = thread + i * T::kThreads;
      next_weights[i] = *reinterpret_cast<const float4*>(
          from + index / (kOutputs / 4) * output_pitch + index % (kOutputs / 4) * 4);
    }
  };
  const auto keep = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < T::kLoads; ++i)
      tile.rows[buffer][load_k + i / kParts * kInnerStep][load_row + i % kParts * kRowStep] =
          source.finish(next[i]);
#pragma unroll
    for (int i = 0; i < T::kWeightLoads; ++i) {
      const int index = thread + i * T::kThreads;
      *reinterpret_cast<float4*>(
          &tile.weights[buffer][index / (kOutputs / 4)][index % (kOutputs / 4) * 4]) =
          next_weights[i];
    }
  };
  const int steps = taps * slabs;
  fetch(0);
  keep(0);
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const int buffer = step & 1;
    if (step + 1 < steps) fetch(step + 1);
#pragma unroll
    for (int k = 0; k < kSlab; ++k) {
      const float4 a = *reinterpret_cast<const float4*>(&tile.rows[buffer][k][row0]);
      const float4 b = *reinterpret_cast<const float4*>(&tile.rows[buffer][k][row0 + kRows / 2]);
      const float x[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
      float y[kWide];
#pragma unroll
      for (int j = 0; j < kWide; j += 4)
        *reinterpret_cast<float4*>(y + j) =
            *reinterpret_cast<const float4*>(&tile.weights[buffer][k][output0 + T::output_of(j)]);
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < kWide; ++j) sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
    }
    // The other buffer was read in the step before, which the barrier has closed.
    if (step + 1 < steps) keep(buffer ^ 1);
    __syncthreads();
  }
}

/// slope 1: nothing, 0: ReLU, 0.01: leaky ReLU. A NaN stays one.
__device__ __forceinline__ float activate(float x, float slope) { return x < 0 ? slope * x : x; }

}  // namespace diarist::backend::cuda::blocks
