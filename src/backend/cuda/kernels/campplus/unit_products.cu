// The products on units without neighbours: transits, and the TDNN layer behind the head.
//
// A block makes 128 units x 128 outputs (frame_tile.cuh). In a transit, where the tiles are those
// of the dense layers, four more warps finish the last of them for the tile, in every block of
// outputs again. The TDNN layer's operand is the head's map itself: chunk 10 t + f are the 32
// channels of frequency f at row 2 u - 2 + t. Outputs are written 8 neighbouring ones per thread.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/campplus/frame_launch.hpp"
#include "backend/cuda/kernels/campplus/frame_tile.cuh"

namespace diarist::backend::cuda::campplus {
namespace {

constexpr int kTransitThreads = kProductThreads + kGateThreads;
constexpr int kTdnnRows = 5, kMapRows = 10;

/// Eight outputs of a thread's unit in 32 columns: sum * unscale + bias.
__device__ __forceinline__ void finish_sums(const float (&sum)[16][4], const PackedProduct& product,
                                            int first_output, int group, int h, float (&x)[8]) {
  const int quad = static_cast<int>(threadIdx.x) & 3;
  const float4* const source =
      reinterpret_cast<const float4*>(product.bias + first_output + 32 * group + 8 * quad);
  const float4 bias_0 = __ldg(source), bias_1 = __ldg(source + 1);
  const float bias[8] = {bias_0.x, bias_0.y, bias_0.z, bias_0.w,
                         bias_1.x, bias_1.y, bias_1.z, bias_1.w};
#pragma unroll
  for (int c = 0; c < 8; ++c)
    x[c] = fmaf(sum[4 * group + c / 2][2 * h + c % 2], product.unscale, bias[c]);
}

/// The segment of a thread's unit h, -1 if it has none or another tile owns it.
__device__ __forceinline__ int own_segment(const PackTables& tables, int base, int own_begin,
                                           int own_end, int h) {
  const int row =
      static_cast<int>(threadIdx.x) / 32 * 16 + 8 * h + (static_cast<int>(threadIdx.x) & 31) / 4;
  const bool own = row >= own_begin && row < own_end && base + row < tables.units;
  return own ? __ldg(tables.unit_segments + base + row) : -1;
}

/// Writes 128 columns from `first_output` on of a thread's two units.
template <bool kExact>
__device__ __forceinline__ void write_rows(const float (&sum)[16][4], const PackTables& tables,
                                           const PackedProduct& product, int base,
                                           const int (&segments)[2], int first_output, bool rectify,
                                           void* rows) {
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int unit = base + 16 * warp + 8 * h + (lane >> 2);
    const int segment = segments[h];
    if (segment < 0) continue;
    RangeWatch watch;
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      float x[8];
      finish_sums(sum, product, first_output, group, h, x);
      const std::size_t at = static_cast<std::size_t>(unit) * kFrameColumns +
                             static_cast<std::size_t>(first_output + 32 * group + 8 * (lane & 3));
      if constexpr (kExact) {
        if (rectify)
#pragma unroll
          for (int c = 0; c < 8; ++c) x[c] = rectified(x[c]);
        float4* const target = reinterpret_cast<float4*>(static_cast<float*>(rows) + at);
        target[0] = make_float4(x[0], x[1], x[2], x[3]);
        target[1] = make_float4(x[4], x[5], x[6], x[7]);
#pragma unroll
        for (int c = 0; c < 8; c += 2) watch.see(packed_halves(x[c], x[c + 1]));
      } else {
        const PixelHalves<1> halves(x, rectify);
        *reinterpret_cast<uint4*>(static_cast<__half*>(rows) + at) = make_uint4(
            halves.words[0][0], halves.words[0][1], halves.words[0][2], halves.words[0][3]);
        if (halves.overflowed()) tables.range[tables.segments[segment].item] = 1;
      }
    }
    if (kExact && watch.overflowed()) tables.range[tables.segments[segment].item] = 1;
  }
}

/// The network's frames: floats through a ReLU, item behind item.
__device__ __forceinline__ void write_frames(const float (&sum)[16][4], const TransitArgs& args,
                                             int base, const int (&segments)[2], int first_output) {
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int unit = base + 16 * warp + 8 * h + (lane >> 2);
    const int segment = segments[h];
    if (segment < 0) continue;
    const int owner = args.tables.segments[segment].item;
    const PackItem& item = args.tables.items[owner];
    float* const row = args.frames + (item.first_frame + unit - item.first_row / 2) * args.outputs +
                       first_output + 8 * (lane & 3);
    bool finite = true;
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      float x[8];
      finish_sums(sum, args.product, first_output, group, h, x);
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        finite = finite && isfinite(x[c]);
        x[c] = rectified(x[c]);
      }
      // The caller's rows may start at any float.
#pragma unroll
      for (int c = 0; c < 8; ++c) row[32 * group + c] = x[c];
    }
    if (!finite) args.tables.range[owner] = 1;
  }
}

template <bool kExact, bool kDeep>
using Traits = FrameTraits<kExact, kFrameStages<kExact, kDeep>>;

template <bool kExact, bool kDeep>
__global__ void __launch_bounds__(kTransitThreads, 1) transit(TransitArgs args) {
  using T = Traits<kExact, kDeep>;
  extern __shared__ __align__(128) std::uint8_t shared[];
  GateSpace& space = *reinterpret_cast<GateSpace*>(shared + T::kGatesAt);
  const int base = static_cast<int>(blockIdx.x) * kTileUnits - kTileLead;
  const int first_output = static_cast<int>(blockIdx.y) * 128;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread >= kProductThreads) {
    const PackTile tile = args.tables.tiles[blockIdx.x];
    find_segments(args.tables, base, thread - kProductThreads, space);
    finish_pending<kExact>(args.tables, args.pending, tile, base, thread - kProductThreads, space,
                           shared + T::kPendingAt, nullptr);
    block_arrive(kPendingBarrier, kTransitThreads);
    return;
  }
  float sum[16][4] = {};
  const std::size_t weights = static_cast<std::size_t>(blockIdx.y) *
                              static_cast<std::size_t>(args.columns / kChunk) * T::kBBytes;
  multiply_rows<T>(sum, args.rows, base, args.tables, args.columns, true,
                   static_cast<const std::uint8_t*>(args.product.weights) + weights, shared, [&] {
                     copy_affine<kExact>(shared_address(shared) + T::kAffineAt, args.affine,
                                         args.columns);
                   });
  int segments[2];
#pragma unroll
  for (int h = 0; h < 2; ++h)
    segments[h] = own_segment(args.tables, base, kTileLead, kTileLead + kTileUnits, h);
  if (args.out_rows != nullptr)
    write_rows<kExact>(sum, args.tables, args.product, base, segments, first_output, false,
                       args.out_rows);
  else
    write_frames(sum, args, base, segments, first_output);
}

/// The head's rows 2 u - 2 + tap of one frequency; rows outside the pack become zero.
template <bool kExact>
__device__ __forceinline__ void copy_map(std::uint32_t target, const TdnnArgs& args, int base,
                                         int chunk) {
  constexpr int kPieces = kExact ? 8 : 4;
  const int piece = static_cast<int>(threadIdx.x) % kPieces;
  const int tap = chunk / kMapRows, frequency = chunk % kMapRows;
#pragma unroll
  for (int i = 0; i < kTileRows * kPieces / kProductThreads; ++i) {
    const int row = static_cast<int>(threadIdx.x) / kPieces + i * (kProductThreads / kPieces);
    const int time = 2 * (base + row) - 2 + tap;
    const bool inside = time >= 0 && time < args.tables.rows;
    const std::size_t at =
        static_cast<std::size_t>(frequency) * static_cast<std::size_t>(args.pitch) +
        static_cast<std::size_t>(inside ? time : 0);
    const __half* const source = args.map + at * (8 * kPieces) + piece * 8;
    if constexpr (kExact)
      copy_16(target + row * 128 + ((piece ^ (row & 7)) << 4), source, inside);
    else
      copy_16(target + half_piece(row, piece), source, inside);
  }
}

template <bool kExact>
__global__ void __launch_bounds__(kProductThreads, 1) tdnn(TdnnArgs args) {
  using T = Traits<kExact, false>;
  extern __shared__ __align__(128) std::uint8_t shared[];
  const std::uint32_t ring = shared_address(shared);
  const int base = static_cast<int>(blockIdx.x) * kTileRows;
  constexpr int kChunks = kTdnnRows * kMapRows;
  const auto load = [&](int chunk) {
    if (chunk < kChunks) {
      const std::uint32_t stage = ring + chunk % T::kStages * T::kStageBytes;
      copy_map<kExact>(stage, args, base, chunk);
      copy_weights<kProductThreads>(
          stage + T::kABytes,
          static_cast<const std::uint8_t*>(args.product.weights) + chunk * T::kBBytes,
          128 * T::kParts);
    }
    commit_copies();
  };
#pragma unroll 1
  for (int i = 0; i < T::kStages - 1; ++i) load(i);
  float sum[16][4] = {};
#pragma unroll 1
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    wait_copies<T::kStages - 2>();
    __syncthreads();
    load(chunk + T::kStages - 1);
    const std::uint32_t stage = ring + chunk % T::kStages * T::kStageBytes;
    multiply_chunk<kExact, true>(sum, stage, stage + T::kABytes, nullptr);
  }
  int segments[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) segments[h] = own_segment(args.tables, base, 0, kTileRows, h);
  write_rows<kExact>(sum, args.tables, args.product, base, segments, 0, true, args.out_rows);
}

template <bool kExact, bool kDeep>
cudaError_t launch(const TransitArgs& args, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(args.tables.tiles_count),
                  static_cast<unsigned>(args.outputs / 128));
  return launch_overlapping(transit<kExact, kDeep>, grid, kTransitThreads,
                            Traits<kExact, kDeep>::kLocalAt, args.launch.overlap, args, stream);
}

template <bool kExact, bool kDeep>
cudaError_t prepare() {
  const cudaError_t error =
      cudaFuncSetAttribute(transit<kExact, kDeep>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           Traits<kExact, kDeep>::kLocalAt);
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(tdnn<kExact>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              Traits<kExact, false>::kPendingAt);
}

template <bool kExact>
cudaError_t launch(const TdnnArgs& args, cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((args.tables.units + kTileRows - 1) / kTileRows);
  tdnn<kExact><<<tiles, kProductThreads, Traits<kExact, false>::kPendingAt, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_transit(const TransitArgs& args, cudaStream_t stream) {
  if (args.columns % kChunk != 0 || args.columns > kFrameColumns || args.outputs % 128 != 0 ||
      args.pending.local == nullptr)
    return cudaErrorNotSupported;
  if (args.exact)
    return args.launch.deep ? launch<true, true>(args, stream) : launch<true, false>(args, stream);
  return args.launch.deep ? launch<false, true>(args, stream) : launch<false, false>(args, stream);
}

cudaError_t launch_tdnn(const TdnnArgs& args, cudaStream_t stream) {
  return args.exact ? launch<true>(args, stream) : launch<false>(args, stream);
}

cudaError_t prepare_unit_products(bool exact, bool deep) {
  if (exact) return deep ? prepare<true, true>() : prepare<true, false>();
  return deep ? prepare<false, true>() : prepare<false, false>();
}

}  // namespace diarist::backend::cuda::campplus
