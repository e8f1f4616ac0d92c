// One dense layer: relu(affine) -> 128 hidden columns -> ReLU -> local convolution over 3 units ->
// 32 raw columns, and the sums of the hidden columns over every segment.
//
// A block reads 128 units, its own 124 and two on either side, and makes hidden columns for all of
// them, so that the local convolution needs no other block. Warps 0 to 7 own 16 units each: after
// the product of frame_tile.cuh their sums, rounded to halves, are the A operand of the local
// convolution as they stand in registers: one product of depth 128 makes all three taps, which then
// are added across units through shared memory. Warps 8 to 11 finish the layer before meanwhile
// (context_gates.cuh), and add up the hidden columns at the end: units four by four in FP32, always
// the same four of an item, then exactly in integers, so that it does not matter where tiles cut an
// item.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/campplus/frame_launch.hpp"
#include "backend/cuda/kernels/campplus/frame_tile.cuh"

namespace diarist::backend::cuda::campplus {
namespace {

constexpr int kThreads = kProductThreads + kGateThreads;
constexpr int kGroups = kTileRows / kGroupUnits;
constexpr int kTaps = 3, kLocalRows = kTaps * kGrowth;
constexpr int kTapPitch = kGrowth + 8;  // floats; keeps the rows of a warp on different banks

constexpr int kLocalPart = kHidden / kChunk * kLocalRows * 64;

template <bool kExact, bool kDeep>
struct LayerTraits : FrameTraits<kExact, kFrameStages<kExact, kDeep>> {
  using Base = FrameTraits<kExact, kFrameStages<kExact, kDeep>>;
  static constexpr int kShared = Base::kLocalAt + kLocalPart * Base::kParts;
  // Behind the products the ring holds the outer taps and the sums of groups.
  static constexpr int kTapBytes = kTileRows * kTapPitch * 4;
  static constexpr int kSumsAt = 2 * kTapBytes;
  static_assert(kSumsAt + kGroups * kHidden * 4 <= Base::kAffineAt);
};

/// Hidden columns of a thread's two units as halves: [8 columns][unit], parts.
template <bool kExact>
using HiddenWords = std::uint32_t[kExact ? 2 : 1][16][2];

/// relu(sum * unscale + bias), zero in units that belong to no item.
template <bool kExact>
__device__ __forceinline__ void make_hidden(const DenseLayerArgs& args, const float (&sum)[16][4],
                                            const int (&segment)[2], HiddenWords<kExact>& hidden) {
  const int quad = static_cast<int>(threadIdx.x) & 3;
  RangeWatch watch[2];
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    const float2 bias = __ldg(reinterpret_cast<const float2*>(args.reduce.bias) + 4 * j + quad);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float x = rectified(fmaf(sum[j][2 * h], args.reduce.unscale, bias.x));
      const float y = rectified(fmaf(sum[j][2 * h + 1], args.reduce.unscale, bias.y));
      std::uint32_t word = packed_halves(x, y);
      watch[h].see(word);
      word = segment[h] < 0 ? 0 : clamped_halves(word);
      hidden[0][j][h] = word;
      if constexpr (kExact) {
        const float2 high = unpacked_halves(word);
        hidden[1][j][h] =
            segment[h] < 0 ? 0 : clamped_halves(packed_halves(x - high.x, y - high.y));
      }
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h)
    if (segment[h] >= 0 && watch[h].overflowed())
      args.tables.range[args.tables.segments[segment[h]].item] = 1;
}

/// Sums of four units: lanes 4 apart hold neighbouring units. Each exchange halves the columns
/// that a lane keeps. Group 4 w + 2 h + bit 4 of the lane, columns 8 j + 2 q.
template <bool kExact>
__device__ __forceinline__ void sum_groups(const HiddenWords<kExact>& hidden, float* sums) {
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const bool odd = (lane & 4) != 0, upper = (lane & 8) != 0;
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      float2 pair[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int j = 4 * m + 2 * i;
        float2 mine = make_float2(0, 0), other = mine;
#pragma unroll
        for (int part = kExact ? 1 : 0; part >= 0; --part) {
          const std::uint32_t keep = odd ? hidden[part][j + 1][h] : hidden[part][j][h];
          const std::uint32_t send = odd ? hidden[part][j][h] : hidden[part][j + 1][h];
          const float2 a = unpacked_halves(keep);
          const float2 b = unpacked_halves(__shfl_xor_sync(0xFFFFFFFFU, send, 4));
          mine = make_float2(mine.x + a.x, mine.y + a.y);
          other = make_float2(other.x + b.x, other.y + b.y);
        }
        pair[i] = make_float2(mine.x + other.x, mine.y + other.y);
      }
      const float2 keep = upper ? pair[1] : pair[0], send = upper ? pair[0] : pair[1];
      const float x = keep.x + __shfl_xor_sync(0xFFFFFFFFU, send.x, 8);
      const float y = keep.y + __shfl_xor_sync(0xFFFFFFFFU, send.y, 8);
      const int group = 4 * warp + 2 * h + (lane >> 4);
      const int column = 8 * (4 * m + (upper ? 2 : 0) + (odd ? 1 : 0)) + 2 * (lane & 3);
      *reinterpret_cast<float2*>(sums + group * kHidden + column) = make_float2(x, y);
    }
}

/// taps[8 columns of 96] += hidden columns times the local weights.
template <bool kExact>
__device__ __forceinline__ void multiply_local(float (&taps)[12][4],
                                               const HiddenWords<kExact>& hidden,
                                               std::uint32_t weights) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int row = (lane & 7) + ((lane >> 4) << 3), piece = (lane >> 3) & 1;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    std::uint32_t units[kExact ? 2 : 1][4];
#pragma unroll
    for (int part = 0; part < (kExact ? 2 : 1); ++part)
#pragma unroll
      for (int i = 0; i < 4; ++i) units[part][i] = hidden[part][2 * k + (i >> 1)][i & 1];
    const std::uint32_t from =
        weights + k / 2 * kLocalRows * 64 + half_piece(row, 2 * (k % 2) + piece);
#pragma unroll
    for (int n = 0; n < 6; ++n) {
      std::uint32_t w[4];
      load_matrices(from + n * 16 * 64, w);
      multiply_add(taps[2 * n], units[0], w[0], w[1]);
      multiply_add(taps[2 * n + 1], units[0], w[2], w[3]);
      if constexpr (kExact) {
        multiply_add(taps[2 * n], units[1], w[0], w[1]);
        multiply_add(taps[2 * n + 1], units[1], w[2], w[3]);
        load_matrices(from + kLocalPart + n * 16 * 64, w);
        multiply_add(taps[2 * n], units[0], w[0], w[1]);
        multiply_add(taps[2 * n + 1], units[0], w[2], w[3]);
      }
    }
  }
}

template <bool kExact, bool kDeep>
__global__ void __launch_bounds__(kThreads, 1) dense_layer(DenseLayerArgs args) {
  using T = LayerTraits<kExact, kDeep>;
  extern __shared__ __align__(128) std::uint8_t shared[];
  GateSpace& space = *reinterpret_cast<GateSpace*>(shared + T::kGatesAt);
  float* const taps_shared = reinterpret_cast<float*>(shared);
  float* const sums_shared = reinterpret_cast<float*>(shared + T::kSumsAt);
  const int base = static_cast<int>(blockIdx.x) * kTileUnits - kTileLead;
  const int thread = static_cast<int>(threadIdx.x), quad = thread & 3;
  // Of the product threads: their first of two units, eight apart.
  const int row = 16 * (thread >> 5) + ((thread & 31) >> 2);
  int segment[2] = {-1, -1};
  float taps[12][4] = {};
  const bool makes_gates = thread >= kProductThreads;
  if (makes_gates) {
    const PackTile tile = args.tables.tiles[blockIdx.x];
    find_segments(args.tables, base, thread - kProductThreads, space);
    if (args.pending.local != nullptr) {
      void* const columns =
          kExact ? static_cast<void*>(static_cast<float*>(args.rows) + args.columns - kGrowth)
                 : static_cast<void*>(static_cast<__half*>(args.rows) + args.columns - kGrowth);
      finish_pending<kExact>(args.tables, args.pending, tile, base, thread - kProductThreads, space,
                             shared + T::kPendingAt, columns);
    } else {
      wait_for_predecessor();
      admit_successor();
    }
    block_arrive(kPendingBarrier, kThreads);
  } else {
    float sum[16][4] = {};
    multiply_rows<T>(
        sum, args.rows, base, args.tables, args.columns, args.pending.local != nullptr,
        args.reduce.weights, shared, [&] {
          copy_affine<kExact>(shared_address(shared) + T::kAffineAt, args.affine, args.columns);
          copy_weights<kProductThreads>(shared_address(shared) + T::kLocalAt, args.local_weights,
                                        kHidden / kChunk * kLocalRows * T::kParts);
        });
    segment[0] = space.segments[row];
    segment[1] = space.segments[row + 8];
    HiddenWords<kExact> hidden;
    make_hidden<kExact>(args, sum, segment, hidden);
    multiply_local<kExact>(taps, hidden, shared_address(shared) + T::kLocalAt);
    block_barrier(kProductBarrier, kProductThreads);  // the ring has been read
    sum_groups<kExact>(hidden, sums_shared);
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float* const target = taps_shared + (row + 8 * h) * kTapPitch + 8 * j + 2 * quad;
        *reinterpret_cast<float2*>(target) = make_float2(taps[j][2 * h], taps[j][2 * h + 1]);
        *reinterpret_cast<float2*>(target + kTileRows * kTapPitch) =
            make_float2(taps[8 + j][2 * h], taps[8 + j][2 * h + 1]);
      }
  }
  __syncthreads();  // in one place for all threads, or it is none
  if (makes_gates) {
    write_sums(args.tables.tiles[blockIdx.x], space, sums_shared, kHidden, thread - kProductThreads,
               args.sums);
    return;
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int r = row + 8 * h;
    if (segment[h] < 0 || r < kTileLead || r >= kTileLead + kTileUnits) continue;
    float* const out = args.local + static_cast<std::size_t>(base + r) * kGrowth;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int column = 8 * j + 2 * quad;
      const float2 before =
          *reinterpret_cast<const float2*>(taps_shared + (r - args.dilation) * kTapPitch + column);
      const float2 behind = *reinterpret_cast<const float2*>(
          taps_shared + (kTileRows + r + args.dilation) * kTapPitch + column);
      *reinterpret_cast<float2*>(out + column) =
          make_float2((before.x + taps[4 + j][2 * h] + behind.x) * args.local_unscale,
                      (before.y + taps[4 + j][2 * h + 1] + behind.y) * args.local_unscale);
    }
  }
}

template <bool kExact, bool kDeep>
cudaError_t launch(const DenseLayerArgs& args, cudaStream_t stream) {
  return launch_overlapping(dense_layer<kExact, kDeep>,
                            dim3(static_cast<unsigned>(args.tables.tiles_count)), kThreads,
                            LayerTraits<kExact, kDeep>::kShared, args.launch.overlap, args, stream);
}

template <bool kExact, bool kDeep>
cudaError_t prepare() {
  return cudaFuncSetAttribute(dense_layer<kExact, kDeep>,
                              cudaFuncAttributeMaxDynamicSharedMemorySize,
                              LayerTraits<kExact, kDeep>::kShared);
}

}  // namespace

cudaError_t launch_dense_layer(const DenseLayerArgs& args, cudaStream_t stream) {
  if (args.columns % kChunk != 0 || args.columns > kFrameColumns || args.dilation > kTileLead)
    return cudaErrorNotSupported;
  if (args.exact)
    return args.launch.deep ? launch<true, true>(args, stream) : launch<true, false>(args, stream);
  return args.launch.deep ? launch<false, true>(args, stream) : launch<false, false>(args, stream);
}

cudaError_t prepare_dense_layer(bool exact, bool deep) {
  if (exact) return deep ? prepare<true, true>() : prepare<true, false>();
  return deep ? prepare<false, true>() : prepare<false, false>();
}

}  // namespace diarist::backend::cuda::campplus
