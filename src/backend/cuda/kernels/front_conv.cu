// Two warps are a team: 16 pooled rows, that is 48 rows of the convolution from 52 input rows, each
// warp with 32 of the 64 (60) output channels. Up to six teams a CTA share the weights and nothing
// else, so that the teams' load, product and store phases overlap. A team normalizes and splits its
// input rows into high and low halves in its own piece of shared memory; the five taps are row
// offsets into it. Persistent grid; the weights (100 KB of fragments) stay in shared memory where
// that suffices, else they come through the cache.
//
// Pooling in registers: m-tile j of a warp holds rows 3 r + j (the order of rows is free, as
// ldmatrix takes an address per row), so a thread has all three rows of a pooled one, and the
// strides of 528 and 432 bytes between the rows of a fragment touch all banks.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/front_conv.cuh"
#include "backend/cuda/kernels/split_product.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kTeamThreads = 64, kMaxTeams = 6, kColumns = 64;
constexpr int kTeamRows = 3 * kConvPieceRows + kFrontTaps - 1;  // 52 input rows

template <int kChannels>
struct Sizes {
  static constexpr int kPadded = (kChannels + 15) / 16 * 16;
  static constexpr int kPitch = kPadded + 8;  // halves of a row
  static constexpr int kTapSteps = kPadded / 16, kSteps = kFrontTaps * kTapSteps;
  static constexpr int kWeightBytes = kSteps * (kColumns / 8) * 32 * 16;
  static constexpr int kPart = kTeamRows * kPitch;  // halves of the high or low rows
  static constexpr int kTeamBytes = 2 * kPart * 2;
};

__device__ __forceinline__ void team_barrier(int team) {
  asm volatile("bar.sync %0, 64;" ::"r"(team + 1) : "memory");
}

template <int kChannels, bool kResident>
__device__ __forceinline__ void multiply_rows(std::uint32_t high, const uint4* weights, int lane,
                                              float (&sum)[3][4][4]) {
  using S = Sizes<kChannels>;
#pragma unroll
  for (int m = 0; m < 3; ++m)
#pragma unroll
    for (int n = 0; n < 4; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[m][n][i] = 0;
  std::uint32_t row =
      high + static_cast<std::uint32_t>((3 * (lane & 15) * S::kPitch + (lane >> 4) * 8) * 2);
#pragma unroll 1
  for (int tap = 0; tap < kFrontTaps; ++tap) {
#pragma unroll
    for (int k = 0; k < S::kTapSteps; ++k) {
      std::uint32_t a[2][3][4];
      uint4 b[4];
#pragma unroll
      for (int m = 0; m < 3; ++m) {
        load_matrices(row + (m * S::kPitch + k * 16) * 2, a[0][m]);
        load_matrices(row + (S::kPart + m * S::kPitch + k * 16) * 2, a[1][m]);
      }
#pragma unroll
      for (int n = 0; n < 4; ++n)
        b[n] = weight_fragment<kResident>(weights, (k * (kColumns / 8) + n) * 32 + lane);
      multiply_split(sum, a[0], a[1], b);
    }
    row += S::kPitch * 2;
    weights += S::kTapSteps * (kColumns / 8) * 32;
  }
}

template <int kChannels, bool kResident>
__global__ void __launch_bounds__(kMaxTeams* kTeamThreads, 1)
    front_conv(FrontConvArgs args, FrontExtent extent) {
  using S = Sizes<kChannels>;
  extern __shared__ __align__(16) std::uint8_t shared[];
  const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  const int team = thread / kTeamThreads, lane = thread & 31;
  const int column = (thread >> 5 & 1) * 32;
  const uint4* weights = static_cast<const uint4*>(args.weights);
  if constexpr (kResident) {
    uint4* const kept = reinterpret_cast<uint4*>(shared);
    for (int i = thread; i < S::kWeightBytes / 16; i += threads) kept[i] = __ldg(weights + i);
    weights = kept;
  }
  weights += column / 8 * 32;
  __half* const high =
      reinterpret_cast<__half*>(shared + (kResident ? S::kWeightBytes : 0) + team * S::kTeamBytes);
  // Channels that pad the depth are never written again.
  if constexpr (S::kPadded > kChannels)
    for (int i = thread % kTeamThreads; i < 2 * kTeamRows; i += kTeamThreads)
      for (int c = kChannels; c < S::kPadded; ++c) high[i * S::kPitch + c] = __half();
  __syncthreads();
  const int total = extent.pieces * args.windows;
  const int stride = threads / kTeamThreads * static_cast<int>(gridDim.x);
  // Neighbouring pieces go to different multiprocessors: few windows still use them all.
  for (int unit = team * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x); unit < total;
       unit += stride) {
    const int window = unit / extent.pieces, piece = unit % extent.pieces;
    load_front_rows<kChannels, kTeamThreads, kTeamRows, 9>(
        args, window, piece * kConvPieceRows * 3, thread % kTeamThreads, high, S::kPart,
        [](int row, int quad) { return row * S::kPitch + 4 * quad; });
    team_barrier(team);
    if (unit + stride < total)
      prefetch_front_rows<kChannels, kTeamThreads, kTeamRows>(
          args, (unit + stride) / extent.pieces,
          (unit + stride) % extent.pieces * kConvPieceRows * 3, thread % kTeamThreads);
    float sum[3][4][4];
    multiply_rows<kChannels, kResident>(shared_address(high), weights, lane, sum);
    team_barrier(team);
    store_front_rows(args, extent, window, piece, column, lane, sum);
  }
}

// Teams that fit beside the weights.
int teams_beside(std::size_t shared_bytes, std::size_t weights, std::size_t team) {
  if (shared_bytes < weights + team) return 0;
  const std::size_t teams = (shared_bytes - weights) / team;
  return static_cast<int>(teams < kMaxTeams ? teams : kMaxTeams);
}

// Resident weights want at least four teams beside them.
template <int kChannels>
bool weights_stay(std::size_t shared_bytes) {
  return teams_beside(shared_bytes, Sizes<kChannels>::kWeightBytes, Sizes<kChannels>::kTeamBytes) >=
         4;
}

template <int kChannels, bool kResident>
int shared_of(std::size_t shared_bytes, int* teams) {
  using S = Sizes<kChannels>;
  const std::size_t weights = kResident ? S::kWeightBytes : 0;
  *teams = teams_beside(shared_bytes, weights, S::kTeamBytes);
  return static_cast<int>(weights) + *teams * S::kTeamBytes;
}

template <int kChannels, bool kResident>
cudaError_t allow(std::size_t shared_bytes) {
  int teams = 0;
  const int bytes = shared_of<kChannels, kResident>(shared_bytes, &teams);
  if (teams == 0) return cudaErrorNotSupported;
  return cudaFuncSetAttribute(front_conv<kChannels, kResident>,
                              cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

template <int kChannels>
cudaError_t prepare(std::size_t shared_bytes) {
  return weights_stay<kChannels>(shared_bytes) ? allow<kChannels, true>(shared_bytes)
                                               : allow<kChannels, false>(shared_bytes);
}

template <int kChannels, bool kResident>
cudaError_t launch(const FrontConvArgs& args, cudaStream_t stream) {
  int teams = 0;
  const int bytes = shared_of<kChannels, kResident>(args.shared_bytes, &teams);
  if (teams == 0) return cudaErrorNotSupported;
  const FrontExtent extent{front_conv_rows(args.in_rows), front_conv_pieces(args.in_rows)};
  const int total = extent.pieces * args.windows;
  const int grid = total < args.multiprocessors ? total : args.multiprocessors;
  front_conv<kChannels, kResident>
      <<<grid, teams * kTeamThreads, static_cast<std::size_t>(bytes), stream>>>(args, extent);
  return cudaGetLastError();
}

}  // namespace

std::vector<std::uint16_t> pack_front_conv(const float* weight, int channels, float scale) {
  const int padded = (channels + 15) / 16 * 16;
  return pack_split(kColumns, kFrontTaps * padded, scale, [&](int column, int k) {
    const int tap = k / padded, channel = k % padded;
    if (column >= kFrontOutputs || channel >= channels) return 0.0F;
    return weight[(column * channels + channel) * kFrontTaps + tap];
  });
}

cudaError_t prepare_front_conv(std::size_t shared_bytes) {
  const cudaError_t error = prepare<80>(shared_bytes);
  return error != cudaSuccess ? error : prepare<60>(shared_bytes);
}

cudaError_t launch_front_conv(const FrontConvArgs& args, cudaStream_t stream) {
  if (args.channels == 80)
    return weights_stay<80>(args.shared_bytes) ? launch<80, true>(args, stream)
                                               : launch<80, false>(args, stream);
  if (args.channels == 60)
    return weights_stay<60>(args.shared_bytes) ? launch<60, true>(args, stream)
                                               : launch<60, false>(args, stream);
  return cudaErrorNotSupported;
}

}  // namespace diarist::backend::cuda
