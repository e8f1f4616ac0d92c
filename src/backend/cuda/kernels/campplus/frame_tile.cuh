#pragma once
// The product of 128 units with 128 outputs that all layers on units share.
//
// Eight warps own 16 units each and all 128 outputs. Operands come in chunks of 32 inputs through a
// ring of stages: A [128 units] rows of 64 bytes (halves) or 128 bytes (exact mode: floats, or the
// head's high and low halves), B [128 outputs] rows of 64 bytes, high then low parts. Sums add up
// from the first input to the last, whatever the tile: a unit's bits depend on its own inputs only.

#include <cstdint>

#include "backend/cuda/kernels/campplus/context_gates.cuh"

namespace diarist::backend::cuda::campplus {

inline constexpr int kProductThreads = 256;
inline constexpr int kChunk = 32;  // inputs

/// \tparam kStages_ chunks in flight and at work.
template <bool kExact_, int kStages_>
struct FrameTraits {
  static constexpr bool kExact = kExact_;
  static constexpr int kParts = kExact ? 2 : 1;
  static constexpr int kRowBytes = 64 * kParts;  // of A
  static constexpr int kABytes = kTileRows * kRowBytes;
  static constexpr int kBPart = 128 * 64;
  static constexpr int kBBytes = kBPart * kParts;
  static constexpr int kStageBytes = kABytes + kBBytes;
  static constexpr int kStages = kStages_;
  static constexpr int kPendingAt = kStages * kStageBytes;
  static constexpr int kAffineAt = kPendingAt + kABytes;
  static constexpr int kAffineBytes = kFrameColumns * (kExact ? 8 : 4);
  static constexpr int kGatesAt = kAffineAt + kAffineBytes;
  static constexpr int kLocalAt =
      kGatesAt + (static_cast<int>(sizeof(GateSpace)) + 127) / 128 * 128;
  static_assert(sizeof(ContextSpace) <= kABytes);
};

__device__ __forceinline__ std::uint32_t half_piece(int row, int piece) {
  return static_cast<std::uint32_t>(row * 64 + ((piece ^ ((row >> 1) & 3)) << 4));
}

__device__ __forceinline__ std::uint32_t fused_affine(std::uint32_t x, std::uint32_t scale,
                                                      std::uint32_t offset) {
#if __CUDA_ARCH__ >= 800
  asm("fma.rn.relu.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(scale), "r"(offset));
#else
  const float2 a = unpacked_halves(x), s = unpacked_halves(scale), o = unpacked_halves(offset);
  x = packed_halves(rectified(fmaf(a.x, s.x, o.x)), rectified(fmaf(a.y, s.y, o.y)));
#endif
  return x;
}

/// A's fragments of 16 units x 16 inputs: [0] high, [1] low parts. kMap: halves without affine.
template <bool kExact, bool kMap>
__device__ __forceinline__ void load_units(std::uint32_t a, const void* affine, int k,
                                           std::uint32_t (&fragment)[kExact ? 2 : 1][4]) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int row = 16 * (static_cast<int>(threadIdx.x) >> 5) + (lane & 15), piece = lane >> 4;
  if constexpr (!kExact) {
    load_matrices(a + half_piece(row, 2 * k + piece), fragment[0]);
    if constexpr (!kMap) {
#pragma unroll
      for (int high = 0; high < 2; ++high) {
        const uint2 pair = static_cast<const uint2*>(affine)[8 * k + 4 * high + (lane & 3)];
        fragment[0][2 * high] = fused_affine(fragment[0][2 * high], pair.x, pair.y);
        fragment[0][2 * high + 1] = fused_affine(fragment[0][2 * high + 1], pair.x, pair.y);
      }
    }
  } else if constexpr (kMap) {
#pragma unroll
    for (int part = 0; part < 2; ++part)
      load_matrices(a + row * 128 + (((4 * part + 2 * k + piece) ^ (row & 7)) << 4),
                    fragment[part]);
  } else {
    const int first = row - (lane & 15) + (lane >> 2);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int unit = first + 8 * (i & 1), column = 16 * k + 8 * (i >> 1) + 2 * (lane & 3);
      const std::uint32_t address =
          a + unit * 128 + (((column >> 2) ^ ((unit << 1) & 7)) << 4) + (column & 3) * 4;
      float2 x;
      asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(address));
      const float4 pair = static_cast<const float4*>(affine)[column / 2];
      x.x = rectified(fmaf(x.x, pair.x, pair.z));
      x.y = rectified(fmaf(x.y, pair.y, pair.w));
      fragment[0][i] = packed_halves(x.x, x.y);
      const float2 high = unpacked_halves(fragment[0][i]);
      fragment[1][i] = packed_halves(x.x - high.x, x.y - high.y);
    }
  }
}

/// sum += one chunk. `affine`: of the chunk's first column. Exact mode adds the chunk up by itself
/// first: tensor cores cut off what they add to large sums, FP32 additions round it.
template <bool kExact, bool kMap>
__device__ __forceinline__ void multiply_chunk(float (&sum)[16][4], std::uint32_t a,
                                               std::uint32_t b, const void* affine) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int row = (lane & 7) + ((lane >> 4) << 3), piece = (lane >> 3) & 1;
  if constexpr (kExact) {
    std::uint32_t units[2][2][4];
#pragma unroll
    for (int k = 0; k < 2; ++k) load_units<kExact, kMap>(a, affine, k, units[k]);
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      float part[2][4] = {};
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const std::uint32_t from = b + half_piece(row, 2 * k + piece) + n * 16 * 64;
        std::uint32_t high[4], low[4];
        load_matrices(from, high);
        load_matrices(from + 128 * 64, low);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          multiply_add(part[i], units[k][0], low[2 * i], low[2 * i + 1]);
          multiply_add(part[i], units[k][1], high[2 * i], high[2 * i + 1]);
          multiply_add(part[i], units[k][0], high[2 * i], high[2 * i + 1]);
        }
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[2 * n + i][e] += part[i][e];
    }
  } else {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      std::uint32_t units[1][4];
      load_units<kExact, kMap>(a, affine, k, units);
      const std::uint32_t from = b + half_piece(row, 2 * k + piece);
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        std::uint32_t w[4];
        load_matrices(from + n * 16 * 64, w);
        multiply_add(sum[2 * n], units[0], w[0], w[1]);
        multiply_add(sum[2 * n + 1], units[0], w[2], w[3]);
      }
    }
  }
}

/// Copies rows of 64 bytes to a swizzled operand.
template <int kThreads>
__device__ __forceinline__ void copy_weights(std::uint32_t target, const void* source, int rows) {
  const int piece = static_cast<int>(threadIdx.x) & 3;
  for (int row = static_cast<int>(threadIdx.x) >> 2; row < rows; row += kThreads / 4)
    copy_16(target + half_piece(row, piece), static_cast<const uint4*>(source) + row * 4 + piece,
            true);
}

/// Copies a chunk of 128 rows of a block's array; rows outside of it become zero.
template <bool kExact>
__device__ __forceinline__ void copy_units(std::uint32_t target, const void* rows, int base,
                                           int units, int chunk) {
  constexpr int kPieces = kExact ? 8 : 4, kPieceColumns = kExact ? 4 : 8;
  const int piece = static_cast<int>(threadIdx.x) % kPieces;
#pragma unroll
  for (int i = 0; i < kTileRows * kPieces / kProductThreads; ++i) {
    const int row = static_cast<int>(threadIdx.x) / kPieces + i * (kProductThreads / kPieces);
    const int unit = base + row;
    const bool inside = unit >= 0 && unit < units;
    const std::size_t at = static_cast<std::size_t>(inside ? unit : 0) * kFrameColumns +
                           static_cast<std::size_t>(chunk * kChunk + piece * kPieceColumns);
    if constexpr (kExact)
      copy_16(target + row * 128 + ((piece ^ ((row << 1) & 7)) << 4),
              static_cast<const float*>(rows) + at, inside);
    else
      copy_16(target + half_piece(row, piece), static_cast<const __half*>(rows) + at, inside);
  }
}

/// The affine entries of all columns, by the product threads.
template <bool kExact>
__device__ __forceinline__ void copy_affine(std::uint32_t target, const void* affine, int columns) {
  const int pieces = columns * (kExact ? 8 : 4) / 16;
  for (int i = static_cast<int>(threadIdx.x); i < pieces; i += kProductThreads)
    copy_16(target + i * 16, static_cast<const uint4*>(affine) + i, true);
}

/// sum = rows of the block times the weights; the last chunk's A is made by the gate threads when
/// something is pending. Called by the product threads, who wait for the gate threads before the
/// last chunk in any case. Weights, and what `extra` copies, do not wait for the launch before.
template <typename T, typename Extra>
__device__ __forceinline__ void multiply_rows(float (&sum)[16][4], const void* rows, int base,
                                              const PackTables& tables, int columns, bool pending,
                                              const void* weights, const std::uint8_t* shared,
                                              Extra extra) {
  const std::uint32_t ring = shared_address(shared);
  const int chunks = columns / kChunk, loaded = pending ? chunks - 1 : chunks;
  const auto stage_of = [&](int chunk) { return ring + chunk % T::kStages * T::kStageBytes; };
  const auto load_a = [&](int chunk) {
    if (chunk < loaded) copy_units<T::kExact>(stage_of(chunk), rows, base, tables.units, chunk);
  };
  const auto load_b = [&](int chunk) {
    if (chunk >= chunks) return;
    copy_weights<kProductThreads>(
        stage_of(chunk) + T::kABytes,
        static_cast<const std::uint8_t*>(weights) + static_cast<std::size_t>(chunk) * T::kBBytes,
        128 * T::kParts);
  };
  extra();
#pragma unroll 1
  for (int i = 0; i < T::kStages - 1; ++i) load_b(i);
  wait_for_predecessor();
#pragma unroll 1
  for (int i = 0; i < T::kStages - 1; ++i) {
    load_a(i);
    commit_copies();
  }
#pragma unroll 1
  for (int chunk = 0; chunk < chunks; ++chunk) {
    wait_copies<T::kStages - 2>();
    if (chunk + 1 < chunks)
      block_barrier(kProductBarrier, kProductThreads);
    else
      block_barrier(kPendingBarrier, kProductThreads + kGateThreads);
    load_a(chunk + T::kStages - 1);
    load_b(chunk + T::kStages - 1);
    commit_copies();
    const std::uint32_t stage = stage_of(chunk);
    multiply_chunk<T::kExact, false>(sum, chunk < loaded ? stage : ring + T::kPendingAt,
                                     stage + T::kABytes,
                                     shared + T::kAffineAt + chunk * kChunk * (T::kExact ? 8 : 4));
  }
}

}  // namespace diarist::backend::cuda::campplus
