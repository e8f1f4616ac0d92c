#pragma once
// The product engine of this folder: a CTA makes kRows x kOutputs numbers of a matrix product, a
// thread eight rows times four outputs. The inner dimension goes in slabs of 16: while one slab is
// summed from one buffer of shared memory, the next is on its way through registers to the other.
// Every number is one chain of fused multiply-adds in the order of the inner dimension, whatever
// the tile: its bits depend on nothing but its own row and column.
//
// Weights: [steps * 16][output_pitch], a slab never crosses a tap. A Source gives the left operand:
//   bool kAlongRows: neighbours in memory are rows (maps), not inner indices (rows of features);
//     then a thread is asked for one row only
//   void seek(int tap, int c, int row): where the thread's next loads begin
//   float load(int rows, int inner): so many rows or inner indices further, zero outside
//   float finish(float x): what becomes of it; called when it has arrived, before the next seek().

namespace diarist::backend::cuda::blocks {

inline constexpr int kSlab = 16;

template <int kRows, int kOutputs>
struct Tile {
  static constexpr int kThreads = kRows / 8 * (kOutputs / 4);
  static constexpr int kPitch = kRows + 4;  // floats; keeps columns off one bank
  static constexpr int kLoads = kRows * kSlab / kThreads;
  static constexpr int kWeightLoads = kSlab * kOutputs / 4 / kThreads;
  static_assert(kLoads * kThreads == kRows * kSlab);
  static_assert(kWeightLoads * kThreads * 4 == kSlab * kOutputs);
  static_assert(kThreads % kSlab == 0 && kThreads % kRows == 0);

  __align__(16) float rows[2][kSlab][kPitch];
  __align__(16) float weights[2][kSlab][kOutputs];

  /// Row of a thread's i-th sum, 0..7; its outputs are first_output() .. + 3.
  template <bool kAlongRows>
  static __device__ __forceinline__ int first_row() {
    return (kAlongRows ? threadIdx.x % (kRows / 8) : threadIdx.x / (kOutputs / 4)) * 4;
  }
  template <bool kAlongRows>
  static __device__ __forceinline__ int first_output() {
    return (kAlongRows ? threadIdx.x / (kRows / 8) : threadIdx.x % (kOutputs / 4)) * 4;
  }
  static __device__ __forceinline__ int row_of(int i) { return i % 4 + i / 4 * (kRows / 2); }
};

template <int kRows, int kOutputs, typename Source>
__device__ __forceinline__ void multiply(Tile<kRows, kOutputs>& tile, Source& source,
                                         const float* weights, int output_pitch, int taps,
                                         int slabs, float (&sum)[8][4]) {
  using T = Tile<kRows, kOutputs>;
  constexpr bool kAlong = Source::kAlongRows;
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = T::template first_row<kAlong>();
  const int output0 = T::template first_output<kAlong>();
  // A thread loads element (row, k) + i * (row_step, k_step) of every slab.
  const int load_row = kAlong ? thread % kRows : thread / kSlab;
  const int load_k = kAlong ? thread / kRows : thread % kSlab;
  constexpr int kRowStep = kAlong ? 0 : T::kThreads / kSlab;
  constexpr int kInnerStep = kAlong ? T::kThreads / kRows : 0;
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
    for (int i = 0; i < T::kLoads; ++i) next[i] = source.load(i * kRowStep, i * kInnerStep);
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
      tile.rows[buffer][load_k + i * kInnerStep][load_row + i * kRowStep] = source.finish(next[i]);
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
      const float4 w = *reinterpret_cast<const float4*>(&tile.weights[buffer][k][output0]);
      const float x[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
      const float y[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
    }
    // The other buffer was read in the step before, which the barrier has closed.
    if (step + 1 < steps) keep(buffer ^ 1);
    __syncthreads();
  }
}

/// slope 1: nothing, 0: ReLU, 0.01: leaky ReLU. A NaN stays one.
__device__ __forceinline__ float activate(float x, float slope) { return x < 0 ? slope * x : x; }

}  // namespace diarist::backend::cuda::blocks
