// A warp makes 32 rows x 80 filters by itself: it turns the 566 samples of its strip into high and
// low halves in its own piece of shared memory and slides over them. Nothing but the weights is
// shared, so warps load, multiply and store at their own times. Persistent grid; the weights (80 KB
// of fragments) stay in shared memory where that suffices, else they come through the cache.
// A fragments are read by 4-byte loads: a stride of 10 samples is no multiple of 16 bytes.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/sinc_strip.cuh"

namespace diarist::backend::cuda {
namespace {

constexpr int kStrip = 32, kMaxWarps = 12, kNTiles = kSincFilters / 8, kSteps = kSincDepth / 16;
constexpr int kStripSamples = (kStrip - 1) * kSincStride + kSincDepth;  // 566
constexpr int kPart = (kStripSamples + 31) / 32 * 32;  // halves of the high or low samples
constexpr int kWeightBytes = kSteps * kNTiles * 32 * 16;
constexpr int kWarpBytes = 2 * kPart * 2;
constexpr unsigned kAll = 0xFFFFFFFFU;

template <bool kResident>
__device__ __forceinline__ void multiply_strip(const __half* high, const __half* low,
                                               const uint4* weights, int lane,
                                               float (&sum)[2][kNTiles][4]) {
#pragma unroll
  for (int m = 0; m < 2; ++m)
#pragma unroll
    for (int n = 0; n < kNTiles; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[m][n][i] = 0;
  const int first = (lane >> 2) * kSincStride + 2 * (lane & 3);
#pragma unroll 1
  for (int step = 0; step < kSteps; ++step) {
    std::uint32_t a[2][2][4];
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int at = first + (m * 16 + (r & 1) * 8) * kSincStride + step * 16 + (r >> 1) * 8;
        a[0][m][r] = *reinterpret_cast<const std::uint32_t*>(high + at);
        a[1][m][r] = *reinterpret_cast<const std::uint32_t*>(low + at);
      }
      // Two column tiles at a time: four independent accumulators between dependent products.
#pragma unroll
    for (int n = 0; n < kNTiles; n += 2) {
      const int at = (step * kNTiles + n) * 32 + lane;
      const uint4 b[2] = {weight_fragment<kResident>(weights, at),
                          weight_fragment<kResident>(weights, at + 32)};
#pragma unroll
      for (int product = 0; product < 3; ++product)
#pragma unroll
        for (int j = 0; j < 2; ++j)
#pragma unroll
          for (int m = 0; m < 2; ++m) {
            if (product == 0) multiply_add(sum[m][n + j], a[1][m], b[j].x, b[j].y);
            if (product == 1) multiply_add(sum[m][n + j], a[0][m], b[j].z, b[j].w);
            if (product == 2) multiply_add(sum[m][n + j], a[0][m], b[j].x, b[j].y);
          }
    }
  }
}

template <bool kResident>
__global__ void __launch_bounds__(kMaxWarps * 32, 1)
    sinc_mma(const __grid_constant__ SincMmaArgs args, int strips) {
  extern __shared__ __align__(16) std::uint8_t shared[];
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
  const int warps = static_cast<int>(blockDim.x >> 5);
  const uint4* weights = static_cast<const uint4*>(args.weights);
  if constexpr (kResident) {
    uint4* const kept = reinterpret_cast<uint4*>(shared);
    for (int i = threadIdx.x; i < kWeightBytes / 16; i += static_cast<int>(blockDim.x))
      kept[i] = __ldg(weights + i);
    weights = kept;
    __syncthreads();
  }
  __half* const high =
      reinterpret_cast<__half*>(shared + (kResident ? kWeightBytes : 0) + warp * kWarpBytes);
  __half* const low = high + kPart;
  const int total = args.items.count * strips;
  // Neighbouring units go to different multiprocessors: few items still use them all.
  for (int unit = warp * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x); unit < total;
       unit += warps * static_cast<int>(gridDim.x)) {
    const int item = unit / strips, row0 = unit % strips * kStrip;
    const int length = args.items.length[item];
    const int rows = (length - kSincTaps) / kSincStride + 1;  // length >= 251, or the strip is out
    if (length < kSincTaps || row0 >= rows) continue;
    const float* x = args.samples + args.items.input[item] + row0 * kSincStride;
    const int count = length - row0 * kSincStride;
    float* const out = args.rows + args.items.output[item] +
                       static_cast<std::int64_t>(row0) * kSincFilters + 2 * (lane & 3);
    __syncwarp();
    const bool loud =
        __any_sync(kAll, load_strip<kPart, 32>(x, count, level_scale(0), high, low, lane)) != 0;
    // Level of row `lane` of the strip; -1: there is no such row.
    int level = row0 + lane < rows ? 0 : -1;
    if (loud && level == 0) level = level_of_row(x + lane * kSincStride);
    for (int pass = 0; pass < (loud ? kSincLevels + 1 : 1); ++pass) {
      if (loud) {
        if (__any_sync(kAll, level == pass) == 0) continue;
        __syncwarp();
        load_strip<kPart, 32>(x, count, level_scale(pass), high, low, lane);
      }
      __syncwarp();
      float sum[2][kNTiles][4];
      multiply_strip<kResident>(high, low, weights, lane, sum);
      const float unscale = level_unscale(args.weight_unscale, pass);
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int row = m * 16 + h * 8 + (lane >> 2);
          if (__shfl_sync(kAll, level, row) != pass) continue;
#pragma unroll
          for (int n = 0; n < kNTiles; ++n)
            *reinterpret_cast<float2*>(out + row * kSincFilters + n * 8) =
                make_float2(sum[m][n][2 * h] * unscale, sum[m][n][2 * h + 1] * unscale);
        }
    }
  }
}

// Warps that fit beside the weights.
int warps_beside(std::size_t shared_bytes, std::size_t weights) {
  if (shared_bytes < weights + kWarpBytes) return 0;
  const std::size_t warps = (shared_bytes - weights) / kWarpBytes;
  return static_cast<int>(warps < kMaxWarps ? warps : kMaxWarps);
}

}  // namespace

cudaError_t prepare_sinc_mma(std::size_t shared_bytes) {
  const auto allow = [&](const void* kernel, std::size_t weights) {
    return cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
        static_cast<int>(weights) + warps_beside(shared_bytes, weights) * kWarpBytes);
  };
  const cudaError_t error = allow(reinterpret_cast<const void*>(sinc_mma<false>), 0);
  if (error != cudaSuccess || warps_beside(shared_bytes, kWeightBytes) < 8) return error;
  return allow(reinterpret_cast<const void*>(sinc_mma<true>), kWeightBytes);
}

cudaError_t launch_sinc_mma(const SincMmaArgs& args, cudaStream_t stream) {
  int longest = 0;
  for (int i = 0; i < args.items.count; ++i)
    longest = args.items.length[i] > longest ? args.items.length[i] : longest;
  if (longest < kSincTaps) return cudaSuccess;
  const int strips = ((longest - kSincTaps) / kSincStride + kStrip) / kStrip;
  const int total = strips * args.items.count;
  const int grid = total < args.multiprocessors ? total : args.multiprocessors;
  const bool resident = warps_beside(args.shared_bytes, kWeightBytes) >= 8;
  const std::size_t weights = resident ? kWeightBytes : 0;
  const int warps = warps_beside(args.shared_bytes, weights);
  if (warps == 0) return cudaErrorNotSupported;
  const std::size_t bytes = weights + static_cast<std::size_t>(warps) * kWarpBytes;
  if (resident)
    sinc_mma<true><<<grid, warps * 32, bytes, stream>>>(args, strips);
  else
    sinc_mma<false><<<grid, warps * 32, bytes, stream>>>(args, strips);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
