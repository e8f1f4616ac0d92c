// One CTA makes 20 frequencies of 128 time steps: eight warps, 16 pixels each. The features of the
// tile lie in shared memory; a warp gathers the nine taps of its pixels as the A fragment of one
// m16n8k16 product per eight channels. The map it writes is all of the traffic, and each thread
// writes 16 bytes of a pixel at a time. Split mode: high x high, low x high, high x low weights.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/mma.cuh"
#include "backend/cuda/kernels/stem_mma.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kBands = 80, kRows = 20, kStrip = 128, kThreads = 256;
constexpr int kTileRows = kRows + 2, kTileColumns = kStrip + 16;  // from a multiple of 8 columns

__device__ __forceinline__ std::uint32_t pair_of(__half a, __half b) {
  const __half2 pair = __halves2half2(a, b);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

__device__ __forceinline__ std::uint32_t bits_of(__half2 pair) {
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

// The A fragment of 16 pixels: this lane's taps of pixels lane / 4 and lane / 4 + 8.
struct Taps {
  int first, second, last;  // offsets of taps 2 q, 2 q + 1 and 8
};

__device__ __forceinline__ void gather(const __half* f, const Taps& taps, std::uint32_t (&a)[4]) {
  a[0] = pair_of(f[taps.first], f[taps.second]);
  a[1] = pair_of(f[8 + taps.first], f[8 + taps.second]);
  a[2] = pair_of(f[taps.last], __half());
  a[3] = pair_of(f[8 + taps.last], __half());
}

template <bool kSplit>
__global__ void __launch_bounds__(kThreads) stem_mma(StemMmaArgs args) {
  constexpr int kParts = kSplit ? 2 : 1;
  __shared__ __align__(16) __half tile[kParts][kTileRows][kTileColumns];
  const int item = static_cast<int>(blockIdx.z), row0 = static_cast<int>(blockIdx.y) * kRows;
  const int time0 = static_cast<int>(blockIdx.x) * kStrip;
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
  const int quad = lane & 3;
  constexpr int kPieces = kTileColumns / 8;
  for (int i = threadIdx.x; i < kParts * kTileRows * kPieces; i += kThreads) {
    const int part = i / (kTileRows * kPieces), row = i / kPieces % kTileRows;
    const __half* plane = part == 0 ? args.features : args.low_features;
    // Row 0 of the tile is frequency row0 - 1, its column 0 time step time0 - 8.
    const std::size_t at =
        (static_cast<std::size_t>(item) * kFeatureRows + row0 + row + kFeatureRow0 - 1) *
            kFeatureColumns +
        time0 + kFeatureColumn0 - 8 + i % kPieces * 8;
    const bool inside = time0 + kFeatureColumn0 - 8 + i % kPieces * 8 + 8 <= kFeatureColumns;
    *reinterpret_cast<uint4*>(&tile[part][row][i % kPieces * 8]) =
        inside ? *reinterpret_cast<const uint4*>(plane + at) : make_uint4(0, 0, 0, 0);
  }
  uint2 weights[kParts][4];
#pragma unroll
  for (int part = 0; part < kParts; ++part)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      weights[part][j] = static_cast<const uint2*>(args.weights)[(part * 4 + j) * 32 + lane];
  float bias[8];
#pragma unroll
  for (int c = 0; c < 8; ++c) bias[c] = args.bias[8 * quad + c];
  __syncthreads();
  const auto offset = [](int tap) { return tap / 3 * kTileColumns + tap % 3; };
  const Taps taps{offset(2 * quad), offset(2 * quad + 1), offset(8)};
  const int pixel = 16 * warp + (lane >> 2);
  RangeWatch watch;
  for (int row = 0; row < kRows; ++row) {
    std::uint32_t a[kParts][4];
#pragma unroll
    for (int part = 0; part < kParts; ++part) gather(&tile[part][row][pixel + 7], taps, a[part]);
    float sum[4][4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[j][i] = 0;
      multiply_add(sum[j], a[0], weights[0][j].x, weights[0][j].y);
      if (kSplit) {
        multiply_add(sum[j], a[kParts - 1], weights[0][j].x, weights[0][j].y);
        multiply_add(sum[j], a[0], weights[kParts - 1][j].x, weights[kParts - 1][j].y);
      }
    }
#pragma unroll
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      const int time = time0 + pixel + 8 * half_tile;
      if (time >= args.time) continue;
      std::uint32_t high[4], low[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float x = fmaxf(fmaf(sum[j][2 * half_tile], args.unscale, bias[2 * j]), 0.0F);
        const float y = fmaxf(fmaf(sum[j][2 * half_tile + 1], args.unscale, bias[2 * j + 1]), 0.0F);
        const __half2 pair = __floats2half2_rn(x, y);
        high[j] = bits_of(pair);
        watch.see(high[j]);
        if (kSplit) {
          const float2 rounded = __half22float2(pair);
          low[j] = bits_of(__floats2half2_rn(x - rounded.x, y - rounded.y));
        }
      }
      __half* out = args.output +
                    ((static_cast<std::size_t>(item) * kBands + row0 + row) * args.time + time) *
                        32 * kParts +
                    8 * quad;
      *reinterpret_cast<uint4*>(out) = make_uint4(high[0], high[1], high[2], high[3]);
      if (kSplit) *reinterpret_cast<uint4*>(out + 32) = make_uint4(low[0], low[1], low[2], low[3]);
    }
  }
  if (watch.overflowed()) args.range[item] = 1;
}

}  // namespace

cudaError_t launch_stem_mma(const StemMmaArgs& args, cudaStream_t stream) {
  if (args.time + kFeatureColumn0 + 1 > kFeatureColumns) return cudaErrorNotSupported;
  const dim3 grid(static_cast<unsigned>((args.time + kStrip - 1) / kStrip), kBands / kRows,
                  static_cast<unsigned>(args.items));
  if (args.split)
    stem_mma<true><<<grid, kThreads, 0, stream>>>(args);
  else
    stem_mma<false><<<grid, kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
