// Kernels of recurrence.hpp. One CTA is one direction of a few items and makes all their steps.
//
// 128 units: 256 threads; threads 2u and 2u + 1 own unit u with its four gates, for all items: the
// even one multiplies the first 64 numbers of the state, the odd one the others. So many rows per
// thread since what limits is not the arithmetic but the bytes of the state that shared memory
// hands to registers. Of a thread's 4 x 64 weights half lies in registers, then come as many as fit
// in shared memory, the rest is read from the L1 and L2 caches in every step. The two exchange
// their sums by shuffles, so that each finishes half of the items; the state is double-buffered in
// shared memory, [unit][items]: one barrier a step.
// Other sizes: threads go over the gates with all weights from L2, and pass them on in shared
// memory: two barriers a step.
//
// The order of a gate's sum is fixed, however many items share the CTA and wherever the weights
// lie.

#include <algorithm>

#include "backend/cuda/blocks/recurrence.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

constexpr int kThreads = 256, kUnits = 128;
constexpr int kSpan = kUnits / 2;            // numbers of the state that a thread multiplies
constexpr int kGroups = kSpan / 4;           // of four weights of each gate
constexpr int kHeldGroups = kGroups / 2;     // in registers
constexpr int kGroupVectors = 4 * kThreads;  // float4 of all threads
constexpr int kGroupBytes = kGroupVectors * 16;
constexpr int kStepCosts[3] = {17, 26, 50};  // with 2, 4 and 8 items per CTA

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
__device__ __forceinline__ void multiply_group(const float4 (&w)[4], const float* state,
                                               float (&sum)[4][kItems]) {
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
      const int at = k + i / kItems;
#pragma unroll
      for (int gate = 0; gate < 4; ++gate) {
        const float weight =
            at == 0 ? w[gate].x : (at == 1 ? w[gate].y : (at == 2 ? w[gate].z : w[gate].w));
        sum[gate][i % kItems] = fmaf(weight, h[i], sum[gate][i % kItems]);
      }
    }
  }
}

template <int kItems>
__global__ void __launch_bounds__(kThreads, 1)
    recurrence_128(RecurrenceArgs args, int items, int shared_groups) {
  extern __shared__ __align__(16) float4 shared_weights[];  // [shared_groups][4][kThreads]
  __shared__ Items<kItems> known;
  // The halves of the state start in different banks.
  constexpr int kHalfPitch = kSpan * kItems + 4;
  __shared__ __align__(16) float state[2][2][kHalfPitch];
  const int thread = static_cast<int>(threadIdx.x), unit = thread / 2, half = thread % 2;
  const int direction = static_cast<int>(blockIdx.y);
  if (thread == 0) known.read(args, static_cast<int>(blockIdx.x) * kItems, items);
  const float4* const weights = reinterpret_cast<const float4*>(args.weights[direction]) + thread;
  float4 held[kHeldGroups][4];
#pragma unroll
  for (int g = 0; g < kHeldGroups; ++g)
#pragma unroll
    for (int gate = 0; gate < 4; ++gate) held[g][gate] = weights[(4 * g + gate) * kThreads];
  for (int i = 0; i < 4 * shared_groups; ++i)
    shared_weights[i * kThreads + thread] = weights[(4 * kHeldGroups + i) * kThreads];
  constexpr int kOwn = kItems / 2;
  const int own0 = half * kOwn;  // first of the items that this thread finishes
  const int own_state = unit % kSpan * kItems + own0;
  for (int j = 0; j < kOwn; ++j) state[0][unit / kSpan][own_state + j] = 0;
  __syncthreads();

  float cell[kOwn] = {};
  const int longest = known.longest;
  for (int step = 0; step < longest; ++step) {
    // Needed at the end of the step only.
    float4 inputs[kOwn];
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      inputs[j] = make_float4(0, 0, 0, 0);
      const int length = known.length[own0 + j];
      if (step >= length) continue;
      const int t = direction == 0 ? step : length - 1 - step;
      inputs[j] = reinterpret_cast<const float4*>(
          known.gates[own0 + j])[(static_cast<std::int64_t>(t) * 2 + direction) * kUnits + unit];
    }
    float sum[4][kItems] = {};
    const float* const now = state[step & 1][half];
    // A group from registers covers the way of the next one from memory. One generic pointer, so
    // that no branch stops loads from going ahead.
#pragma unroll
    for (int g = 0; g < kHeldGroups; ++g) {
      const float4* const from = g < shared_groups ? shared_weights + g * kGroupVectors + thread
                                                   : weights + (kHeldGroups + g) * kGroupVectors;
      const float4 w[4] = {from[0], from[kThreads], from[2 * kThreads], from[3 * kThreads]};
      multiply_group<kItems>(held[g], now + 4 * g * kItems, sum);
      multiply_group<kItems>(w, now + 4 * (kHeldGroups + g) * kItems, sum);
    }
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      float gates[4];
#pragma unroll
      for (int gate = 0; gate < 4; ++gate) {
        // The even thread keeps the first items and sends the others, the odd one vice versa.
        const float send = half == 0 ? sum[gate][kOwn + j] : sum[gate][j];
        const float keep = half == 0 ? sum[gate][j] : sum[gate][kOwn + j];
        gates[gate] = keep + __shfl_xor_sync(0xFFFFFFFFU, send, 1);
      }
      const float fresh = cell_step(gates[0] + inputs[j].x, gates[1] + inputs[j].y,
                                    gates[2] + inputs[j].z, gates[3] + inputs[j].w, cell[j]);
      state[(step + 1) & 1][unit / kSpan][own_state + j] = fresh;
      const int length = known.length[own0 + j];
      if (step >= length) continue;
      const int t = direction == 0 ? step : length - 1 - step;
      known.output[own0 + j][(static_cast<std::int64_t>(t) * 2 + direction) * kUnits + unit] =
          fresh;
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
  constexpr int kOwnBytes = 2 * kUnits * kItems * 4 + 2048;  // state, items, what the system takes
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
  // [group][gate][thread][4]; thread 2u + h has numbers 64h .. 64h + 63 of the rows of unit u.
  for (int unit = 0; unit < kUnits; ++unit)
    for (int gate = 0; gate < 4; ++gate)
      for (int k = 0; k < kUnits; ++k) {
        const int thread = 2 * unit + k / kSpan, group = k % kSpan / 4;
        packed[at(((group * 4 + gate) * kThreads + thread) * 4 + k % 4)] =
            rows[at((4 * unit + gate) * kUnits + k)];
      }
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
