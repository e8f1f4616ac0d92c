// Kernels of recurrence.hpp. One CTA is one direction of a few items and makes all their steps.
//
// 128 units: 256 threads; threads 2u and 2u + 1 own unit u, the even one its input and forget gate,
// the odd one cell and output gate, for all items. Of a thread's 2 x 128 weights the first half
// lies in registers, then come as many as fit in shared memory, the rest is read from the L2 cache
// in every step. The two exchange gates by shuffles, so that each finishes half of the items; the
// state is double-buffered in shared memory, [unit][items]: one barrier a step.
// Other sizes: threads go over the gates with all weights from L2, and pass them on in shared
// memory: two barriers a step.
//
// A gate is one chain of fused multiply-adds over the units in a fixed order, plus the input
// product, however many items share the CTA and wherever the weights lie.

#include <algorithm>

#include "backend/cuda/blocks/recurrence.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

constexpr int kThreads = 256, kUnits = 128;
constexpr int kGroups = kUnits / 4;       // of four weights of a gate
constexpr int kHeldGroups = kGroups / 2;  // in registers
constexpr int kGroupBytes = 2 * kThreads * 16;
constexpr int kStepCosts[3] = {22, 34, 55};  // with 2, 4 and 8 items per CTA

__device__ __forceinline__ float sigmoid(float x) { return __fdividef(1.0F, 1.0F + __expf(-x)); }

__device__ __forceinline__ float tangent(float x) {
  const float e = __expf(-2.0F * fabsf(x));
  return copysignf(__fdividef(1.0F - e, 1.0F + e), x);
}

/// New state of a unit.
__device__ __forceinline__ float cell_step(float in, float forget, float candidate, float out,
                                           float& cell) {
  cell = fmaf(sigmoid(forget), cell, __fmul_rn(sigmoid(in), tangent(candidate)));
  return __fmul_rn(sigmoid(out), tangent(cell));
}

/// What a CTA knows of its items.
template <int kItems>
struct Items {
  const float* gates[kItems];
  float* output[kItems];
  int length[kItems];
  int longest;

  __device__ void read(const RecurrenceArgs& args, int first, int items) {
    longest = 0;
    for (int j = 0; j < kItems; ++j) {
      const bool there = first + j < items;
      gates[j] = there ? args.gates.item(first + j) : nullptr;
      output[j] = there ? args.output.item(first + j) : nullptr;
      length[j] = there ? args.output.length(first + j) : 0;
      longest = max(longest, length[j]);
    }
  }
};

template <int kItems>
__device__ __forceinline__ void multiply_group(const float4 (&w)[2], const float* state,
                                               float (&sum)[2][kItems]) {
  const float w0[4] = {w[0].x, w[0].y, w[0].z, w[0].w}, w1[4] = {w[1].x, w[1].y, w[1].z, w[1].w};
  // Four numbers of the state at a time: a unit's, or those of two units.
  constexpr int kUnitsAtOnce = kItems == 2 ? 2 : 1;
#pragma unroll
  for (int k = 0; k < 4; k += kUnitsAtOnce) {
    float h[kItems * kUnitsAtOnce];
#pragma unroll
    for (int i = 0; i < kItems * kUnitsAtOnce; i += 4)
      *reinterpret_cast<float4*>(h + i) = *reinterpret_cast<const float4*>(state + k * kItems + i);
#pragma unroll
    for (int i = 0; i < kItems * kUnitsAtOnce; ++i) {
      sum[0][i % kItems] = fmaf(w0[k + i / kItems], h[i], sum[0][i % kItems]);
      sum[1][i % kItems] = fmaf(w1[k + i / kItems], h[i], sum[1][i % kItems]);
    }
  }
}

template <int kItems>
__global__ void __launch_bounds__(kThreads, 1)
    recurrence_128(RecurrenceArgs args, int items, int shared_groups) {
  extern __shared__ __align__(16) float4 shared_weights[];  // [shared_groups][2][kThreads]
  __shared__ Items<kItems> known;
  __shared__ __align__(16) float state[2][kUnits][kItems];
  const int thread = static_cast<int>(threadIdx.x), unit = thread / 2, half = thread % 2;
  const int direction = static_cast<int>(blockIdx.y);
  if (thread == 0) known.read(args, static_cast<int>(blockIdx.x) * kItems, items);
  const float4* const weights = reinterpret_cast<const float4*>(args.weights[direction]) + thread;
  float4 held[kHeldGroups][2];
#pragma unroll
  for (int g = 0; g < kHeldGroups; ++g)
#pragma unroll
    for (int row = 0; row < 2; ++row) held[g][row] = weights[(2 * g + row) * kThreads];
  for (int i = 0; i < 2 * shared_groups; ++i)
    shared_weights[i * kThreads + thread] = weights[(2 * kHeldGroups + i) * kThreads];
  for (int j = half; j < kItems; j += 2) state[0][unit][j] = 0;
  __syncthreads();

  constexpr int kOwn = kItems / 2;
  float cell[kOwn] = {};
  const int longest = known.longest;
  for (int step = 0; step < longest; ++step) {
    // Needed at the end of the step only.
    float2 inputs[kItems];
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      inputs[j] = make_float2(0, 0);
      if (step >= known.length[j]) continue;
      const int t = direction == 0 ? step : known.length[j] - 1 - step;
      inputs[j] = *reinterpret_cast<const float2*>(
          known.gates[j] + (static_cast<std::int64_t>(t) * 2 + direction) * 4 * kUnits +
          2 * thread);
    }
    float sum[2][kItems] = {};
    const float(*const now)[kItems] = state[step & 1];
    // A group from registers covers the way of the next one from memory. One generic pointer, so
    // that no branch stops loads from going ahead.
#pragma unroll
    for (int g = 0; g < kHeldGroups; ++g) {
      const float4* const from = g < shared_groups ? shared_weights + 2 * g * kThreads + thread
                                                   : weights + 2 * (kHeldGroups + g) * kThreads;
      const float4 w[2] = {from[0], from[kThreads]};
      multiply_group<kItems>(held[g], now[4 * g], sum);
      multiply_group<kItems>(w, now[4 * (kHeldGroups + g)], sum);
    }
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      sum[0][j] += inputs[j].x;
      sum[1][j] += inputs[j].y;
    }
    float fresh[kOwn];
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      // The even thread keeps the first items and sends the others, the odd one vice versa.
      const float send0 = half == 0 ? sum[0][kOwn + j] : sum[0][j];
      const float send1 = half == 0 ? sum[1][kOwn + j] : sum[1][j];
      const float keep0 = half == 0 ? sum[0][j] : sum[0][kOwn + j];
      const float keep1 = half == 0 ? sum[1][j] : sum[1][kOwn + j];
      const float got0 = __shfl_xor_sync(0xFFFFFFFFU, send0, 1);
      const float got1 = __shfl_xor_sync(0xFFFFFFFFU, send1, 1);
      const float in = half == 0 ? keep0 : got0, forget = half == 0 ? keep1 : got1;
      const float candidate = half == 0 ? got0 : keep0, out = half == 0 ? got1 : keep1;
      fresh[j] = cell_step(in, forget, candidate, out, cell[j]);
      state[(step + 1) & 1][unit][half * kOwn + j] = fresh[j];
    }
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      const int item = half * kOwn + j;
      if (step >= known.length[item]) continue;
      const int t = direction == 0 ? step : known.length[item] - 1 - step;
      known.output[item][(static_cast<std::int64_t>(t) * 2 + direction) * kUnits + unit] = fresh[j];
    }
    __syncthreads();
  }
}

template <int kItems>
__global__ void __launch_bounds__(kThreads) recurrence(RecurrenceArgs args, int items) {
  extern __shared__ __align__(16) float space[];
  __shared__ Items<kItems> known;
  const int units = args.units, rows = 4 * units, thread = static_cast<int>(threadIdx.x);
  float* const gates = space;                  // [4 * units][kItems]
  float* const state = gates + rows * kItems;  // [units][kItems]
  float* const cells = state + units * kItems;
  const int direction = static_cast<int>(blockIdx.y);
  if (thread == 0) known.read(args, static_cast<int>(blockIdx.x) * kItems, items);
  for (int i = thread; i < 2 * units * kItems; i += kThreads) state[i] = 0;
  __syncthreads();
  const float* const weights = args.weights[direction];
  for (int step = 0; step < known.longest; ++step) {
    for (int row = thread; row < rows; row += kThreads) {
      float sum[kItems] = {};
#pragma unroll 8
      for (int k = 0; k < units; ++k) {
        const float w = weights[static_cast<std::int64_t>(k) * rows + row];
#pragma unroll
        for (int j = 0; j < kItems; ++j) sum[j] = fmaf(w, state[k * kItems + j], sum[j]);
      }
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        if (step >= known.length[j]) continue;
        const int t = direction == 0 ? step : known.length[j] - 1 - step;
        gates[row * kItems + j] =
            sum[j] + known.gates[j][(static_cast<std::int64_t>(t) * 2 + direction) * rows + row];
      }
    }
    __syncthreads();
    for (int i = thread; i < units * kItems; i += kThreads) {
      const int unit = i / kItems, j = i % kItems;
      if (step >= known.length[j]) continue;
      const float* const g = gates + 4 * unit * kItems + j;
      state[i] = cell_step(g[0], g[kItems], g[2 * kItems], g[3 * kItems], cells[i]);
      const int t = direction == 0 ? step : known.length[j] - 1 - step;
      known.output[j][(static_cast<std::int64_t>(t) * 2 + direction) * units + unit] = state[i];
    }
    __syncthreads();
  }
}

dim3 grid_of(int items, int per_block) {
  return dim3(static_cast<unsigned>((items + per_block - 1) / per_block), 2);
}

template <int kItems>
cudaError_t launch_128(const RecurrenceArgs& args, int items, int shared_bytes,
                       cudaStream_t stream) {
  constexpr int kOwnBytes = 2 * kUnits * kItems * 4 + 1024;  // state, items, what the system takes
  const int groups = std::clamp((shared_bytes - kOwnBytes) / kGroupBytes, 0, kGroups - kHeldGroups);
  const int bytes = groups * kGroupBytes;
  const cudaError_t error = cudaFuncSetAttribute(
      recurrence_128<kItems>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  recurrence_128<kItems><<<grid_of(items, kItems), kThreads, bytes, stream>>>(args, items, groups);
  return cudaGetLastError();
}

template <int kItems>
cudaError_t launch_any(const RecurrenceArgs& args, int items, cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(args.units) * 6 * kItems * 4;
  recurrence<kItems><<<grid_of(items, kItems), kThreads, bytes, stream>>>(args, items);
  return cudaGetLastError();
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<float> interleave_gates(const float* matrix, int units, int columns) {
  std::vector<float> rows;
  rows.reserve(at(4 * units) * at(columns));
  for (int unit = 0; unit < units; ++unit)
    for (int gate = 0; gate < 4; ++gate) {
      const float* const row = matrix + at(gate * units + unit) * at(columns);
      rows.insert(rows.end(), row, row + columns);
    }
  return rows;
}

std::vector<float> pack_recurrent(const float* weight, int units) {
  const std::vector<float> rows = interleave_gates(weight, units, units);
  std::vector<float> packed(rows.size());
  if (units != kUnits) {  // [units][4 * units]
    for (std::size_t row = 0; row < at(4 * units); ++row)
      for (std::size_t k = 0; k < at(units); ++k)
        packed[k * at(4 * units) + row] = rows[row * at(units) + k];
    return packed;
  }
  // [group][row of the thread][thread][4]; thread t has rows 2t and 2t + 1.
  for (int row = 0; row < 4 * kUnits; ++row)
    for (int k = 0; k < kUnits; ++k)
      packed[at((((k / 4) * 2 + row % 2) * kThreads + row / 2) * 4 + k % 4)] =
          rows[at(row * kUnits + k)];
  return packed;
}

cudaError_t prepare_recurrence(int device, int* shared_bytes) {
  return cudaDeviceGetAttribute(shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
}

cudaError_t launch_recurrence(const RecurrenceArgs& args, int items, int multiprocessors,
                              int shared_bytes, cudaStream_t stream) {
  if (args.units == kUnits) {
    // Waves of CTAs, times what a step takes with so many items (measured, in arbitrary units).
    const auto cost = [&](int per_block, int step) {
      const int blocks = 2 * ((items + per_block - 1) / per_block);
      return (blocks + multiprocessors - 1) / multiprocessors * step;
    };
    const int two = cost(2, kStepCosts[0]), four = cost(4, kStepCosts[1]);
    const int eight = cost(8, kStepCosts[2]);
    if (two <= four && two <= eight) return launch_128<2>(args, items, shared_bytes, stream);
    if (four <= eight) return launch_128<4>(args, items, shared_bytes, stream);
    return launch_128<8>(args, items, shared_bytes, stream);
  }
  if (args.units <= 512) return launch_any<4>(args, items, stream);
  if (args.units <= 2048) return launch_any<1>(args, items, stream);
  return cudaErrorNotSupported;
}

}  // namespace diarist::backend::cuda::blocks
