#pragma once
// One warpgroup finishes the layer before: gates of the segments in a tile, the gated columns.

#include <cstdint>

#include "backend/cuda/kernels/campplus/frames.hpp"
#include "backend/cuda/kernels/campplus/halves.cuh"

namespace diarist::backend::cuda::campplus {

inline constexpr int kTileRows = 128;  // units that a block reads
inline constexpr int kGateThreads = 128;
inline constexpr int kMostSegments = kTileRows / kGroupUnits + 1;  // in a tile
// Barriers of the block; 0 is __syncthreads.
inline constexpr int kProductBarrier = 1, kGateBarrier = 2, kPendingBarrier = 3;

__device__ __forceinline__ void block_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void block_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

struct GateSpace {
  int segments[kTileRows];  // of the tile's units, -1: none
  int first[4], last[4];    // of each warp's units
  float context[kHidden];
  float partial_first[2][kGateHidden];
  float partial_second[4][kGrowth];
  float gates[kMostSegments][kGrowth];
};

/// Whose units the tile holds; by the first 128 threads given. `base` is the tile's first unit.
__device__ __forceinline__ void find_segments(const PackTables& tables, int base, int row,
                                              GateSpace& space) {
  const int unit = base + row;
  const int segment = unit >= 0 && unit < tables.units ? __ldg(tables.unit_segments + unit) : -1;
  space.segments[row] = segment;
  const unsigned owned = __ballot_sync(0xFFFFFFFFU, segment >= 0);
  // Segments are numbered along the axis.
  const int first = __shfl_sync(0xFFFFFFFFU, segment, owned == 0 ? 0 : __ffs(owned) - 1);
  const int last = __shfl_sync(0xFFFFFFFFU, segment, owned == 0 ? 0 : 31 - __clz(owned));
  if (row % 32 == 0) {
    space.first[row / 32] = first;
    space.last[row / 32] = last;
  }
}

/// Sum of hidden column c over a segment, in multiples of 2^-24.
__device__ __forceinline__ long long segment_sum(const Pending& pending, const PackSegment& segment,
                                                 int number, int c) {
  const int first = (segment.first_unit + kTileLead) / kGroupUnits;
  const int last = first + (segment.units + kGroupUnits - 1) / kGroupUnits - 1;
  const ExactSum* const sums = pending.sums + static_cast<std::size_t>(number) * 2 * kHidden + c;
  const ExactSum a = sums[0];
  long long total = static_cast<long long>(a.high) * 65536 + a.low;
  if (first / kTileGroups != last / kTileGroups) {
    const ExactSum b = sums[kHidden];
    total += static_cast<long long>(b.high) * 65536 + b.low;
  }
  return total;
}

/// Writes the tile's 128 rows of gated columns to `chunk` (an operand of the last product) and the
/// rows [own_begin, own_end) to `columns` (null: nowhere). Called by kGateThreads threads.
template <bool kExact>
__device__ __forceinline__ void finish_pending(const PackTables& tables, const Pending& pending,
                                               int base, int thread, GateSpace& space,
                                               std::uint32_t chunk, void* columns, int own_begin,
                                               int own_end) {
  const int segment = space.segments[thread];
  float4 local[kGrowth / 4] = {};
  if (segment >= 0) {
    const float4* const source = reinterpret_cast<const float4*>(
        pending.local + static_cast<std::size_t>(base + thread) * kGrowth);
#pragma unroll
    for (int i = 0; i < kGrowth / 4; ++i) local[i] = source[i];
  }
  // Each thread keeps its part of both matrices while the segments pass by.
  const int output = thread % kGateHidden, half = thread / kGateHidden;
  float first[kGateHidden];
#pragma unroll
  for (int i = 0; i < kGateHidden; ++i)
    first[i] = __ldg(pending.gates.first + (half * kGateHidden + i) * kGateHidden + output);
  const int gate = thread % kGrowth, quarter = thread / kGrowth;
  constexpr int kQuarter = kGateHidden / 4;
  float second[kQuarter], first_bias[kQuarter];
#pragma unroll
  for (int i = 0; i < kQuarter; ++i) {
    second[i] = __ldg(pending.gates.second + (quarter * kQuarter + i) * kGrowth + gate);
    first_bias[i] = __ldg(pending.gates.first_bias + quarter * kQuarter + i);
  }
  const float second_bias = __ldg(pending.gates.second_bias + gate);
  int begin = -1, end = -1;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    if (begin < 0) begin = space.first[w];
    if (space.last[w] >= 0) end = space.last[w];
  }
  int item = -1;
  float item_mean = 0;
  for (int s = begin; s >= 0 && s <= end; ++s) {
    const PackSegment here = tables.segments[s];
    if (here.item != item) {
      item = here.item;
      long long total = 0;
      for (int i = here.first_of_item; i < here.first_of_item + here.of_item; ++i)
        total += segment_sum(pending, tables.segments[i], i, thread);
      item_mean = __ll2float_rn(total) * 0x1p-24F / static_cast<float>(here.item_units);
    }
    const float mean =
        __ll2float_rn(segment_sum(pending, here, s, thread)) * 0x1p-24F /
        static_cast<float>(here.units);
    space.context[thread] = item_mean + mean;
    block_barrier(kGateBarrier, kGateThreads);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kGateHidden; i += 4) {
      const float4 c = *reinterpret_cast<const float4*>(space.context + half * kGateHidden + i);
      sum = fmaf(first[i], c.x, sum);
      sum = fmaf(first[i + 1], c.y, sum);
      sum = fmaf(first[i + 2], c.z, sum);
      sum = fmaf(first[i + 3], c.w, sum);
    }
    space.partial_first[half][output] = sum;
    block_barrier(kGateBarrier, kGateThreads);
    sum = 0;
#pragma unroll
    for (int i = 0; i < kQuarter; ++i) {
      const int k = quarter * kQuarter + i;
      const float x = space.partial_first[0][k] + space.partial_first[1][k] + first_bias[i];
      sum = fmaf(second[i], fmaxf(x, 0.0F), sum);
    }
    space.partial_second[quarter][gate] = sum;
    block_barrier(kGateBarrier, kGateThreads);
    if (quarter == 0) {
      const float x = second_bias + space.partial_second[0][gate] + space.partial_second[1][gate] +
                      space.partial_second[2][gate] + space.partial_second[3][gate];
      space.gates[s - begin][gate] = 1.0F / (1.0F + expf(-x));
    }
  }
  block_barrier(kGateBarrier, kGateThreads);
  const bool own = segment >= 0 && thread >= own_begin && thread < own_end && columns != nullptr;
  const float4* const gates =
      reinterpret_cast<const float4*>(space.gates[segment < 0 ? 0 : segment - begin]);
  const std::size_t row = static_cast<std::size_t>(base + thread) * kFrameColumns;
  RangeWatch watch;
#pragma unroll
  for (int i = 0; i < kGrowth / 8; ++i) {
    float x[8] = {local[2 * i].x,     local[2 * i].y,     local[2 * i].z,     local[2 * i].w,
                  local[2 * i + 1].x, local[2 * i + 1].y, local[2 * i + 1].z, local[2 * i + 1].w};
    if (segment >= 0) {
      const float4 a = gates[2 * i], b = gates[2 * i + 1];
      const float g[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
      for (int c = 0; c < 8; ++c) x[c] *= g[c];
    }
    if constexpr (kExact) {
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        const float4 value = make_float4(x[4 * p], x[4 * p + 1], x[4 * p + 2], x[4 * p + 3]);
        const std::uint32_t words[4] = {__float_as_uint(value.x), __float_as_uint(value.y),
                                        __float_as_uint(value.z), __float_as_uint(value.w)};
        store_shared_16(chunk + thread * 128 + (((2 * i + p) ^ ((thread << 1) & 7)) << 4), words);
        if (own)
          *reinterpret_cast<float4*>(static_cast<float*>(columns) + row + 8 * i + 4 * p) = value;
      }
    } else {
      std::uint32_t words[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        words[c] = packed_halves(x[2 * c], x[2 * c + 1]);
        watch.see(words[c]);
        words[c] = clamped_halves(words[c]);
      }
      store_shared_16(chunk + thread * 64 + ((i ^ ((thread >> 1) & 3)) << 4), words);
      if (own)
        *reinterpret_cast<uint4*>(static_cast<__half*>(columns) + row + 8 * i) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
  if (segment >= 0 && watch.overflowed())
    tables.range[tables.segments[segment].item] = 1;
}

}  // namespace diarist::backend::cuda::campplus
