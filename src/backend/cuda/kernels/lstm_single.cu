// The recurrence with one CTA per group of windows (lstm.hpp).
//
// A CTA serves one direction of 8 windows with 16 warps of 8 units. High parts of the weights stay
// in 64 registers of each thread, low parts in shared memory in the order of the fragments; states
// lie in shared memory in two buffers, and a step has one barrier. The next step's input products
// are fetched while this step's are used.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/lstm_cell.cuh"

namespace diarist::backend::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kPart = kLstmGroup * kStateRow;  // halves

__global__ void __launch_bounds__(kThreads, 1) lstm_single(LstmArgs args) {
  extern __shared__ __align__(128) std::uint8_t bytes[];
  uint4* const low = reinterpret_cast<uint4*>(bytes);
  __half* const states = reinterpret_cast<__half*>(bytes + 131072);  // [2][2][8][kStateRow]
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
  const int direction = static_cast<int>(blockIdx.x & 1);
  const int window0 = static_cast<int>(blockIdx.x >> 1) * kLstmGroup;
  const int unit = 8 * warp + (lane >> 2), window = 2 * (lane & 3);

  WarpWeights weight;
  load_weights(args.weights, direction, 0, warp, weight);
  const uint4* const packed_low =
      static_cast<const uint4*>(args.weights) + (direction * 2 + 1) * 8192;
  for (int i = static_cast<int>(threadIdx.x); i < 8192; i += kThreads) low[i] = packed_low[i];

  const auto rows_at = [&](int step) {
    return args.rows +
           (static_cast<std::int64_t>(frame_of(args, direction, step)) * args.windows + window0) *
               (4 * kLstmUnits) +
           direction * kLstmUnits;
  };
  // Of the 256 pieces of 16 bytes of a step's states, threads 0 to 255 move one each.
  const int piece = static_cast<int>(threadIdx.x & 15) * 8;
  const int piece_window = static_cast<int>(threadIdx.x >> 4) & 7;
  const int piece_part = static_cast<int>(threadIdx.x >> 7);
  const std::int64_t piece_at =
      piece_window * (4 * kLstmUnits) + piece_part * 2 * kLstmUnits + piece;
  __half* const piece_state = states + piece_part * kPart + piece_window * kStateRow + piece;
  if (threadIdx.x < 256) {
    uint4 value = make_uint4(0, 0, 0, 0);
    if (args.first > 0) value = *reinterpret_cast<const uint4*>(rows_at(args.first - 1) + piece_at);
    *reinterpret_cast<uint4*>(piece_state) = value;
  }
  const auto store_states = [&](int buffer, int step) {
    if (threadIdx.x < 256)
      *reinterpret_cast<uint4*>(rows_at(step) + piece_at) =
          *reinterpret_cast<const uint4*>(piece_state + buffer * 2 * kPart);
  };

  const float* const products =
      args.products +
      ((static_cast<std::int64_t>(direction) * args.steps * args.windows + window0 + window) *
           kLstmUnits +
       unit) *
          4;
  float4 product[2];
  const auto fetch = [&](int step) {
    const float* source = products + static_cast<std::int64_t>(product_row(args, direction, step)) *
                                         args.windows * (4 * kLstmUnits);
#pragma unroll
    for (int e = 0; e < 2; ++e)
      product[e] = __ldcs(reinterpret_cast<const float4*>(source + e * (4 * kLstmUnits)));
  };
  fetch(0);
  float* const cells =
      args.cells +
      (static_cast<std::int64_t>(direction) * args.windows + window0 + window) * kLstmUnits + unit;
  float cell[2];
#pragma unroll
  for (int e = 0; e < 2; ++e) cell[e] = args.first > 0 ? cells[e * kLstmUnits] : 0.0F;
  const GateScale scale = gate_scale(args, direction);
  __syncthreads();

#pragma unroll 1
  for (int step = 0; step < args.steps; ++step) {
    const int from = step & 1;
    const std::uint32_t high = shared_address(states + from * 2 * kPart);
    const GateSums sums = recurrent_sums(
        weight,
        [&](int tile, int k) {
          const uint4 v = low[((warp * 2 + tile) * 8 + k) * 32 + lane];
          return WeightFragment{{v.x, v.y, v.z, v.w}};
        },
        high, high + kPart * 2);
    if (step > 0) store_states(from, args.first + step - 1);
    float state[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) state[e] = advance_cell(sums, e, product[e], scale, cell[e]);
    __half* const target = states + (from ^ 1) * 2 * kPart + window * kStateRow + unit;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const __half kept = __float2half_rn(state[e]);
      target[e * kStateRow] = kept;
      target[kPart + e * kStateRow] = __float2half_rn(state[e] - __half2float(kept));
    }
    if (step + 1 < args.steps) fetch(step + 1);
    __syncthreads();
  }
  store_states(args.steps & 1, args.first + args.steps - 1);
#pragma unroll
  for (int e = 0; e < 2; ++e) cells[e * kLstmUnits] = cell[e];
}

}  // namespace

cudaError_t prepare_lstm_single() {
  const cudaError_t error = cudaFuncSetAttribute(
      lstm_single, cudaFuncAttributeMaxDynamicSharedMemorySize, kLstmSingleShared);
  if (error != cudaErrorInvalidValue) return error;
  cudaGetLastError();
  return cudaErrorNotSupported;
}

cudaError_t launch_lstm_single(const LstmArgs& args, cudaStream_t stream) {
  if (args.windows % kLstmGroup != 0) return cudaErrorNotSupported;
  if (args.steps <= 0 || args.windows <= 0) return cudaSuccess;
  lstm_single<<<static_cast<unsigned>(args.windows / kLstmGroup * 2), kThreads, kLstmSingleShared,
                stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
