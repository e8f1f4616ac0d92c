// The products on units without neighbours: transits, and the TDNN layer behind the head.
//
// A block makes 128 units x 128 outputs (frame_tile.cuh). In a transit, four more warps finish the
// last dense layer for the tile first, in every block of outputs again. The TDNN layer's operand is
// the head's map itself: chunk 10 t + f are the 32 channels of frequency f at row 2 u - 2 + t.
// Outputs are written 8 neighbouring ones per thread.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/campplus/frame_tile.cuh"

namespace diarist::backend::cuda::campplus {
namespace {

constexpr int kTransitThreads = kProductThreads + kGateThreads;
constexpr int kTdnnRows = 5, kMapRows = 10;

/// Eight outputs of a thread's unit in 32 columns: sum * unscale + bias.
__device__ __forceinline__ void finish_sums(const float (&sum)[16][4], const PackedProduct& product,
                                            int first_output, int group, int h, float (&x)[8]) {
  const int quad = static_cast<int>(threadIdx.x) & 3;
  const float4* const source = reinterpret_cast<const float4*>(product.bias + first_output +
                                                               32 * group + 8 * quad);
  const float4 bias_0 = __ldg(source), bias_1 = __ldg(source + 1);
  const float bias[8] = {bias_0.x, bias_0.y, bias_0.z, bias_0.w,
                         bias_1.x, bias_1.y, bias_1.z, bias_1.w};
#pragma unroll
  for (int c = 0; c < 8; ++c)
    x[c] = fmaf(sum[4 * group + c / 2][2 * h + c % 2], product.unscale, bias[c]);
}

/// Writes 128 columns from `first_output` on of a thread's two units.
template <bool kExact>
__device__ __forceinline__ void write_rows(const float (&sum)[16][4], const PackTables& tables,
                                           const PackedProduct& product, int base, int first_output,
                                           bool rectify, void* rows) {
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int unit = base + 16 * warp + 8 * h + (lane >> 2);
    const int segment = unit < tables.units ? __ldg(tables.unit_segments + unit) : -1;
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
                                             int base, int first_output) {
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int unit = base + 16 * warp + 8 * h + (lane >> 2);
    const int segment = unit < args.tables.units ? __ldg(args.tables.unit_segments + unit) : -1;
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

template <bool kExact>
__global__ void __launch_bounds__(kTransitThreads, 1) transit(TransitArgs args) {
  using T = FrameTraits<kExact>;
  extern __shared__ __align__(128) std::uint8_t shared[];
  GateSpace& space = *reinterpret_cast<GateSpace*>(shared + T::kGatesAt);
  const int base = static_cast<int>(blockIdx.x) * kTileRows;
  const int first_output = static_cast<int>(blockIdx.y) * 128;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread >= kProductThreads) {
    find_segments(args.tables, base, thread - kProductThreads, space);
    block_barrier(kGateBarrier, kGateThreads);
    if (args.pending.local == nullptr) return;
    finish_pending<kExact>(args.tables, args.pending, base, thread - kProductThreads, space,
                           shared_address(shared) + T::kPendingAt, nullptr, 0, 0);
    block_arrive(kPendingBarrier, kTransitThreads);
    return;
  }
  float sum[16][4] = {};
  const std::size_t weights = static_cast<std::size_t>(blockIdx.y) *
                              static_cast<std::size_t>(args.columns / kChunk) * T::kBBytes;
  multiply_rows<kExact>(sum, args.rows, base, args.tables, args.columns,
                        args.pending.local != nullptr,
                        static_cast<const std::uint8_t*>(args.product.weights) + weights, shared,
                        [&] {
                          copy_affine<kExact>(shared_address(shared) + T::kAffineAt, args.affine,
                                              args.columns);
                        });
  if (args.out_rows != nullptr)
    write_rows<kExact>(sum, args.tables, args.product, base, first_output, false, args.out_rows);
  else
    write_frames(sum, args, base, first_output);
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
    const std::size_t at = static_cast<std::size_t>(frequency) *
                               static_cast<std::size_t>(args.pitch) +
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
  using T = FrameTraits<kExact>;
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
  write_rows<kExact>(sum, args.tables, args.product, base, 0, true, args.out_rows);
}

unsigned tiles_of(const PackTables& tables) {
  return static_cast<unsigned>((tables.units + kTileRows - 1) / kTileRows);
}

template <bool kExact>
cudaError_t prepare() {
  const cudaError_t error =
      cudaFuncSetAttribute(transit<kExact>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           FrameTraits<kExact>::kLocalAt);
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(tdnn<kExact>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              FrameTraits<kExact>::kPendingAt);
}

}  // namespace

cudaError_t launch_transit(const TransitArgs& args, cudaStream_t stream) {
  if (args.columns % kChunk != 0 || args.columns > kFrameColumns || args.outputs % 128 != 0)
    return cudaErrorNotSupported;
  const dim3 grid(tiles_of(args.tables), static_cast<unsigned>(args.outputs / 128));
  if (args.exact)
    transit<true><<<grid, kTransitThreads, FrameTraits<true>::kLocalAt, stream>>>(args);
  else
    transit<false><<<grid, kTransitThreads, FrameTraits<false>::kLocalAt, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_tdnn(const TdnnArgs& args, cudaStream_t stream) {
  if (args.exact)
    tdnn<true><<<tiles_of(args.tables), kProductThreads, FrameTraits<true>::kPendingAt, stream>>>(
        args);
  else
    tdnn<false>
        <<<tiles_of(args.tables), kProductThreads, FrameTraits<false>::kPendingAt, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t prepare_unit_products(bool exact) { return exact ? prepare<true>() : prepare<false>(); }

}  // namespace diarist::backend::cuda::campplus
