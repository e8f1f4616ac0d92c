// Two warpgroups a CTA, each at its own pieces of 64 pooled rows: 192 rows of the convolution from
// 196 input rows, which it normalizes and splits into high and low halves in its own piece of
// shared memory. The weights (100 KB) stay there for the whole launch.
//
// Input row y lies in sub-buffer y mod 3. The 64 rows of m-tile j are those of 3 r + j, so that the
// three rows of a pooled one are the same accumulator of three tiles, and tap t of tile j reads the
// 64 rows of sub-buffer (j + t) mod 3 from row (j + t) / 3 on. All (tile, tap) pairs of one j + t
// read the same rows: they come into registers once for up to nine products. Nothing is swizzled: a
// column of eight channels is an array of 16-byte rows, so that any row may be the first one.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/front_conv.cuh"
#include "backend/cuda/kernels/hopper/front_conv.hpp"
#include "backend/cuda/kernels/hopper/product.cuh"
#include "backend/cuda/kernels/hopper/ptx.cuh"
#include "backend/cuda/kernels/split_product.hpp"

namespace diarist::backend::cuda::hopper {
namespace {

constexpr int kTeams = 2, kTeamThreads = 128, kThreads = kTeams * kTeamThreads;
constexpr int kTurn = kTeams + 1;  // first of the barriers by which the teams take turns
constexpr int kTilePieces = 4, kTileRows = kTilePieces * kConvPieceRows;  // of pooled rows
constexpr int kInputRows = 3 * kTileRows + kFrontTaps - 1;                // 196
constexpr int kSubRows = kTileRows + 2;                                   // of a sub-buffer
constexpr int kColumns = 64, kWeightRows = kFrontTaps * kColumns;
constexpr int kEighthRows = 3 * kSubRows + 1;  // of eight channels; odd against bank conflicts

template <int kChannels>
struct Sizes {
  static constexpr int kPadded = (kChannels + 15) / 16 * 16, kEighths = kPadded / 8;
  static constexpr int kWeightPart = kEighths * kWeightRows * 16;  // bytes, high or low
  static constexpr int kRowPart = kEighths * kEighthRows * 16;
  static constexpr int kShared = 2 * kWeightPart + kTeams * 2 * kRowPart;
  static_assert(kShared <= 232448);
};

// What tap kSum - j of tile j reads, times its weights: 16 channels, a step of the sum.
template <int kSum, int kChannels>
__device__ __forceinline__ void multiply_step(float (&sum)[3][32], const std::uint32_t (&high)[4],
                                              const std::uint32_t (&low)[4],
                                              std::uint64_t weights) {
  constexpr int kFirst = kSum < kFrontTaps ? 0 : kSum - kFrontTaps + 1;
  constexpr int kLast = kSum < 2 ? kSum : 2;
  constexpr int kLowPart = Sizes<kChannels>::kWeightPart / 16;
#pragma unroll
  for (int product = 0; product < 3; ++product)
#pragma unroll
    for (int j = kFirst; j <= kLast; ++j) {
      const std::uint64_t b = weights + (kSum - j) * kColumns;
      if (product == 0) Product<64>::add_from_registers(sum[j], low, b);
      if (product == 1) Product<64>::add_from_registers(sum[j], high, b + kLowPart);
      if (product == 2) Product<64>::add_from_registers(sum[j], high, b);
    }
}

// Steps kStep and on: the rows of the next step come while the products of this one run.
template <int kStep, int kChannels>
__device__ __forceinline__ void multiply_rows(float (&sum)[3][32], std::uint32_t rows,
                                              std::uint64_t weights) {
  using S = Sizes<kChannels>;
  constexpr int kSums = kFrontTaps + 2;
  if constexpr (kStep < kSums * S::kEighths / 2) {
    constexpr int kSum = kStep % kSums, kSixteenth = kStep / kSums;
    constexpr int kRow = 2 * kSixteenth * kEighthRows + kSum % 3 * kSubRows + kSum / 3;
    std::uint32_t high[4], low[4];
    load_matrices(rows + kRow * 16, high);
    load_matrices(rows + kRow * 16 + S::kRowPart, low);
    products_begin();
    multiply_step<kSum, kChannels>(sum, high, low, weights + 2 * kSixteenth * kWeightRows);
    products_commit();
    products_wait<1>();
    multiply_rows<kStep + 1, kChannels>(sum, rows, weights);
  }
}

template <int kChannels>
__global__ void __launch_bounds__(kThreads, 1) front_conv(FrontConvArgs args, FrontExtent extent) {
  using S = Sizes<kChannels>;
  extern __shared__ __align__(128) std::uint8_t shared[];
  const int thread = static_cast<int>(threadIdx.x) % kTeamThreads, lane = thread & 31;
  // Broadcast, so that the compiler knows it to be the same for the warp.
  const int team = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x) / kTeamThreads, 0);
  {
    const uint4* const weights = static_cast<const uint4*>(args.weights);
    uint4* const kept = reinterpret_cast<uint4*>(shared);
    for (int i = threadIdx.x; i < 2 * S::kWeightPart / 16; i += kThreads)
      kept[i] = __ldg(weights + i);
  }
  __half* const high =
      reinterpret_cast<__half*>(shared + 2 * S::kWeightPart + team * 2 * S::kRowPart);
  const auto place = [](int row, int quad) {
    return ((quad / 2 * kEighthRows + row % 3 * kSubRows + row / 3) * 2 + quad % 2) * 4;
  };
  // Channels that pad the depth are never written again.
  if constexpr (S::kPadded > kChannels)
    for (int i = thread; i < 2 * kInputRows; i += kTeamThreads)
      for (int quad = kChannels / 4; quad < S::kPadded / 4; ++quad)
        *reinterpret_cast<uint2*>(high + i % 2 * (S::kRowPart / 2) + place(i / 2, quad)) =
            make_uint2(0, 0);
  fence_async();
  __syncthreads();
  // What this lane gives ldmatrix the address of: row lane % 16 of its warp's, eight channels of
  // two.
  const std::uint32_t rows =
      shared_address(high) +
      static_cast<std::uint32_t>((lane / 16 * kEighthRows + thread / 32 * 16 + lane % 16) * 16);
  const std::uint64_t b = plain_operand(shared_address(shared), kWeightRows * 16);
  const int tiles = (extent.pooled + kTileRows - 1) / kTileRows, total = tiles * args.windows;
  const int grid = static_cast<int>(gridDim.x), stride = kTeams * grid;
  for (int unit = team * grid + static_cast<int>(blockIdx.x); unit < total; unit += stride) {
    const int window = unit / tiles, tile = unit % tiles;
    load_front_rows<kChannels, kTeamThreads, kInputRows, 11>(args, window, tile * kTileRows * 3,
                                                             thread, high, S::kRowPart / 2, place);
    fence_async();
    named_barrier(team + 1, kTeamThreads);
    if (unit + stride < total)
      prefetch_front_rows<kChannels, kTeamThreads, kInputRows>(
          args, (unit + stride) / tiles, (unit + stride) % tiles * kTileRows * 3, thread);
    float sum[3][32];
#pragma unroll
    for (int j = 0; j < 3; ++j)
#pragma unroll
      for (int i = 0; i < 32; ++i) sum[j][i] = 0;
    // The teams multiply by turns, 0 first: both at once would stay in step, with the tensor cores
    // idle while both load. The other team's next unit is the one of the grid behind this.
    if (team == 1 || unit >= stride) named_barrier(kTurn + team, kThreads);
    multiply_rows<0, kChannels>(sum, rows, b);
    if (unit + grid < total) arrive_at_barrier(kTurn + 1 - team, kThreads);
    products_wait<0>();
    named_barrier(team + 1, kTeamThreads);
    const int piece = tile * kTilePieces + thread / 32;
    if (piece < extent.pieces)
      store_front_rows(args, extent, window, piece, 0, lane,
                       reinterpret_cast<const float(&)[3][kColumns / 8][4]>(sum));
  }
}

template <int kChannels>
cudaError_t launch(const FrontConvArgs& args, cudaStream_t stream) {
  const FrontExtent extent{front_conv_rows(args.in_rows), front_conv_pieces(args.in_rows)};
  const int total = (extent.pooled + kTileRows - 1) / kTileRows * args.windows;
  const int grid = total < args.multiprocessors ? total : args.multiprocessors;
  front_conv<kChannels><<<grid, kThreads, Sizes<kChannels>::kShared, stream>>>(args, extent);
  return cudaGetLastError();
}

}  // namespace

std::vector<std::uint16_t> pack_front_conv(const float* weight, int channels, float scale) {
  const int padded = (channels + 15) / 16 * 16;
  return pack_split_rows(kWeightRows, padded, scale, [&](int row, int channel) {
    const int tap = row / kColumns, column = row % kColumns;
    if (column >= kFrontOutputs || channel >= channels) return 0.0F;
    return weight[(column * channels + channel) * kFrontTaps + tap];
  });
}

cudaError_t prepare_front_conv() {
  const cudaError_t error = cudaFuncSetAttribute(
      front_conv<80>, cudaFuncAttributeMaxDynamicSharedMemorySize, Sizes<80>::kShared);
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(front_conv<60>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              Sizes<60>::kShared);
}

cudaError_t launch_front_conv(const FrontConvArgs& args, cudaStream_t stream) {
  if (args.channels == 80) return launch<80>(args, stream);
  if (args.channels == 60) return launch<60>(args, stream);
  return cudaErrorNotSupported;
}

}  // namespace diarist::backend::cuda::hopper
