#pragma once
// One warpgroup finishes the layer before: gates of the segments in a tile, the gated columns. It
// also adds up the hidden columns of this layer in the end.

#include <cstdint>

#include "backend/cuda/kernels/campplus/frames.hpp"
#include "backend/cuda/kernels/campplus/halves.cuh"

namespace diarist::backend::cuda::campplus {

inline constexpr int kGateThreads = 128;
inline constexpr int kMostSegments = kTileRows / kGroupUnits + 1;  // in a tile
inline constexpr int kGateBatch = 16;                              // segments at a time
// Barriers of the block; 0 is __syncthreads.
inline constexpr int kProductBarrier = 1, kGateBarrier = 2, kPendingBarrier = 3;

__device__ __forceinline__ void block_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void block_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Lets the next launch begin as soon as there is room for it; behind wait_for_predecessor(), so
/// that two launches at most are under way.
__device__ __forceinline__ void admit_successor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Returns when the launch before is complete, if this one began earlier.
__device__ __forceinline__ void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Brings the line of an address into the first-level cache, without waiting.
__device__ __forceinline__ void prefetch_near(const void* address) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(address));
}

struct GateSpace {
  int segments[kTileRows];  // of the tile's units, -1: none
  float hidden[kGateBatch][2][kGateHidden];
  float gates[kMostSegments][kGrowth];
};

/// Contexts of a batch, later the second product's quarters. Lies where the gated columns will.
union ContextSpace {
  float contexts[kGateBatch][kHidden];
  float quarters[kGateBatch][4][kGrowth];
};

/// Whose units the tile holds.
__device__ __forceinline__ void find_segments(const PackTables& tables, int base, int row,
                                              GateSpace& space) {
  const int unit = base + row;
  space.segments[row] = unit >= 0 && unit < tables.units ? __ldg(tables.unit_segments + unit) : -1;
}

/// An ExactSum in multiples of 2^-24.
__device__ __forceinline__ long long value_of(const int2& sum) {
  return static_cast<long long>(sum.x) * 65536 + sum.y;
}

__device__ __forceinline__ float mean_of(long long sum, int count) {
  return __ll2float_rn(sum) * 0x1p-24F / static_cast<float>(count);
}

/// Column c of the contexts of the segments [first, last], a batch: each segment's mean, and once
/// all segments [first_sum, last_sum] of the items have passed by, the item's mean.
__device__ __forceinline__ void make_contexts(const PackTables& tables, const ExactSum* sums,
                                              int first, int last, int first_sum, int last_sum,
                                              int c, ContextSpace& space) {
  constexpr int kAhead = 4;  // reads that wait for memory together
  const int4* const table = reinterpret_cast<const int4*>(tables.segments);
  long long item_total = 0;
  int waiting = first;  // the first segment that lacks its item's mean
#pragma unroll 1
  for (int begin = first_sum; begin <= last_sum; begin += kAhead) {
    int4 segment[kAhead];  // as PackSegment
    int next_item[kAhead];
    int2 sum[kAhead][2];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int s = min(begin + i, last_sum);
      const int2* const from =
          reinterpret_cast<const int2*>(sums) + static_cast<std::size_t>(s) * 2 * kHidden + c;
      sum[i][0] = from[0];
      sum[i][1] = from[kHidden];
      segment[i] = __ldg(table + s);
      next_item[i] = begin + i < last_sum ? __ldg(&tables.segments[s + 1].item) : -1;
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int s = begin + i;
      if (s <= last_sum) {
        const long long total = value_of(sum[i][0]) + value_of(sum[i][1]);
        item_total += total;
        if (s >= first && s <= last) space.contexts[s - first][c] = mean_of(total, segment[i].z);
        if (next_item[i] != segment[i].x) {
          const float mean = mean_of(item_total, segment[i].w);
          for (; waiting <= s && waiting <= last; ++waiting)
            space.contexts[waiting - first][c] += mean;
          item_total = 0;
        }
      }
    }
  }
}

/// One thread's part of both matrices.
struct GatePart {
  float first[kGateHidden], second[kGateHidden / 4];
  float first_bias[kGateHidden / 4];
  float second_bias;

  __device__ __forceinline__ GatePart(const GateWeights& gates, int thread) {
    const int output = thread % kGateHidden, half = thread / kGateHidden;
#pragma unroll
    for (int i = 0; i < kGateHidden; ++i)
      first[i] = __ldg(gates.first + (half * kGateHidden + i) * kGateHidden + output);
    const int gate = thread % kGrowth, quarter = thread / kGrowth;
#pragma unroll
    for (int i = 0; i < kGateHidden / 4; ++i) {
      const int k = quarter * (kGateHidden / 4) + i;
      second[i] = __ldg(gates.second + k * kGrowth + gate);
      first_bias[i] = __ldg(gates.first_bias + k);
    }
    second_bias = __ldg(gates.second_bias + gate);
  }
};

/// Gates of `count` segments out of their contexts.
__device__ __forceinline__ void make_gates(const GatePart& part, int count, int thread,
                                           GateSpace& space, ContextSpace& contexts,
                                           float (*gates)[kGrowth]) {
  const int output = thread % kGateHidden, half = thread / kGateHidden;
  const int gate = thread % kGrowth, quarter = thread / kGrowth;
  constexpr int kQuarter = kGateHidden / 4;
  block_barrier(kGateBarrier, kGateThreads);
#pragma unroll 1
  for (int s = 0; s < count; ++s) {
    float sum[2] = {};
#pragma unroll
    for (int i = 0; i < kGateHidden; i += 4) {
      const float4 c =
          *reinterpret_cast<const float4*>(contexts.contexts[s] + half * kGateHidden + i);
      sum[0] = fmaf(part.first[i], c.x, sum[0]);
      sum[1] = fmaf(part.first[i + 1], c.y, sum[1]);
      sum[0] = fmaf(part.first[i + 2], c.z, sum[0]);
      sum[1] = fmaf(part.first[i + 3], c.w, sum[1]);
    }
    space.hidden[s][half][output] = sum[0] + sum[1];
  }
  block_barrier(kGateBarrier, kGateThreads);
#pragma unroll 1
  for (int s = 0; s < count; ++s) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kQuarter; i += 4) {
      const float4 a =
          *reinterpret_cast<const float4*>(space.hidden[s][0] + quarter * kQuarter + i);
      const float4 b =
          *reinterpret_cast<const float4*>(space.hidden[s][1] + quarter * kQuarter + i);
      sum = fmaf(part.second[i], fmaxf(a.x + b.x + part.first_bias[i], 0.0F), sum);
      sum = fmaf(part.second[i + 1], fmaxf(a.y + b.y + part.first_bias[i + 1], 0.0F), sum);
      sum = fmaf(part.second[i + 2], fmaxf(a.z + b.z + part.first_bias[i + 2], 0.0F), sum);
      sum = fmaf(part.second[i + 3], fmaxf(a.w + b.w + part.first_bias[i + 3], 0.0F), sum);
    }
    contexts.quarters[s][quarter][gate] = sum;
  }
  block_barrier(kGateBarrier, kGateThreads);
  for (int s = quarter; s < count; s += 4) {
    const float x = part.second_bias + contexts.quarters[s][0][gate] +
                    contexts.quarters[s][1][gate] + contexts.quarters[s][2][gate] +
                    contexts.quarters[s][3][gate];
    gates[s][gate] = 1.0F / (1.0F + expf(-x));
  }
  block_barrier(kGateBarrier, kGateThreads);
}

/// Writes the tile's 128 rows of gated columns to `chunk` (an operand of the last product) and the
/// rows [own_begin, own_end) to `columns` (null: nowhere). Called by kGateThreads threads.
template <bool kExact>
__device__ __forceinline__ void finish_pending(const PackTables& tables, const Pending& pending,
                                               const PackTile& tile, int base, int thread,
                                               GateSpace& space, std::uint8_t* chunk,
                                               void* columns) {
  const GatePart part(pending.gates, thread);
  wait_for_predecessor();
  admit_successor();
  const int segment = space.segments[thread];
  const float* const raw = pending.local + static_cast<std::size_t>(base + thread) * kGrowth;
  if (segment >= 0) prefetch_near(raw);  // a row is one line
  ContextSpace& contexts = *reinterpret_cast<ContextSpace*>(chunk);
#pragma unroll 1
  for (int first = tile.first; first <= tile.last; first += kGateBatch) {
    const int last = min(first + kGateBatch - 1, tile.last);
    int first_sum = tile.first_sum, last_sum = tile.last_sum;
    // Only where many short items share a tile are there several batches.
    if (first > tile.first) {
      const int item = tables.segments[first].item;
      for (first_sum = first; first_sum > 0 && tables.segments[first_sum - 1].item == item;)
        --first_sum;
    }
    if (last < tile.last) {
      const int item = tables.segments[last].item;
      for (last_sum = last; last_sum < tile.last_sum && tables.segments[last_sum + 1].item == item;)
        ++last_sum;
    }
    make_contexts(tables, pending.sums, first, last, first_sum, last_sum, thread, contexts);
    make_gates(part, last - first + 1, thread, space, contexts, space.gates + (first - tile.first));
  }
  const bool own =
      segment >= 0 && thread >= kTileLead && thread < kTileLead + kTileUnits && columns != nullptr;
  const float4* const gates =
      reinterpret_cast<const float4*>(space.gates[segment < 0 ? 0 : segment - tile.first]);
  const std::size_t row = static_cast<std::size_t>(base + thread) * kFrameColumns;
  const std::uint32_t target = shared_address(chunk);
  float4 columns_raw[kGrowth / 4] = {};
  if (segment >= 0)
#pragma unroll
    for (int i = 0; i < kGrowth / 4; ++i) columns_raw[i] = reinterpret_cast<const float4*>(raw)[i];
  RangeWatch watch;
#pragma unroll
  for (int i = 0; i < kGrowth / 8; ++i) {
    const float4 low = columns_raw[2 * i], high = columns_raw[2 * i + 1];
    float x[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
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
        store_shared_16(target + thread * 128 + (((2 * i + p) ^ ((thread << 1) & 7)) << 4), words);
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
      store_shared_16(target + thread * 64 + ((i ^ ((thread >> 1) & 3)) << 4), words);
      if (own)
        *reinterpret_cast<uint4*>(static_cast<__half*>(columns) + row + 8 * i) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
  if (segment >= 0 && watch.overflowed()) tables.range[tables.segments[segment].item] = 1;
}

/// Column c of the tile's groups (sums of four units, `pitch` floats apart), added up exactly by
/// segment. Both places of a segment are written, by one tile or by two.
__device__ __forceinline__ void write_sums(const PackTile& tile, const GateSpace& space,
                                           const float* groups, int pitch, int c, ExactSum* sums) {
  constexpr int kAhead = 8;
  const int before = tile.cut_before != 0 ? space.segments[0] : -1;
  int segment = -1;
  ExactSum total{0, 0};
  const auto flush = [&](bool goes_on) {
    if (segment < 0) return;
    ExactSum* const target = sums + static_cast<std::size_t>(segment) * 2 * kHidden + c;
    target[segment == before ? kHidden : 0] = total;
    if (segment != before && !goes_on) target[kHidden] = {0, 0};
    total = {0, 0};
  };
#pragma unroll 1
  for (int first = 0; first < kTileGroups; first += kAhead) {
    ExactSum part[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      // Four halves add up to less than 2^18: high fits 26 bits, 31 of them fit 31.
      const float x = first + i < kTileGroups ? groups[(first + i) * pitch + c] : 0.0F;
      part[i].high = __float2int_rz(x * 0x1p8F);
      part[i].low = __float2int_rz((x - static_cast<float>(part[i].high) * 0x1p-8F) * 0x1p24F);
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (first + i >= kTileGroups) break;
      const int here = space.segments[(first + i) * kGroupUnits];
      if (here != segment) {
        flush(false);
        segment = here;
      }
      total.high += part[i].high;
      total.low += part[i].low;
    }
  }
  flush(tile.cut_behind != 0);
}

}  // namespace diarist::backend::cuda::campplus
