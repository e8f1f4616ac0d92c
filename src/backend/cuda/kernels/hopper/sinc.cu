// A warpgroup makes 64 rows x 80 filters by itself: it turns the 886 samples of its strip into high
// and low halves in its own piece of shared memory and slides over them. A comes from registers, by
// 4-byte loads: a stride of 10 samples is no multiple of 16 bytes. Four warpgroups share the
// weights (80 KB, in shared memory for the whole launch) and nothing else, so that they load,
// multiply and store at their own times. Persistent grid.

#include "backend/cuda/kernels/hopper/product.cuh"
#include "backend/cuda/kernels/hopper/ptx.cuh"
#include "backend/cuda/kernels/hopper/sinc.hpp"
#include "backend/cuda/kernels/sinc_strip.cuh"

namespace diarist::backend::cuda::hopper {
namespace {

constexpr int kTeams = 4, kTeamThreads = 128, kThreads = kTeams * kTeamThreads;
constexpr int kStrip = 64, kSteps = kSincDepth / 16;
constexpr int kStripSamples = (kStrip - 1) * kSincStride + kSincDepth;  // 886
constexpr int kPart = (kStripSamples + 7) / 8 * 8;          // halves of the high or low samples
constexpr int kWeightPart = kSincDepth * kSincFilters * 2;  // bytes, high or low
constexpr int kShared = 2 * kWeightPart + kTeams * 2 * kPart * 2;

// Whether any thread of the team says so; a barrier as well.
__device__ __forceinline__ bool any_of_team(int team, bool mine) {
  int any = 0;
  asm volatile(
      "{\n.reg .pred p, q;\nsetp.ne.b32 p, %1, 0;\nbar.red.or.pred q, %2, %3, p;\n"
      "selp.b32 %0, 1, 0, q;\n}\n"
      : "=r"(any)
      : "r"(static_cast<int>(mine)), "r"(team + 1), "r"(kTeamThreads)
      : "memory");
  return any != 0;
}

// Steps kStep and on: the samples of the next step come while the products of this one run.
template <int kStep>
__device__ __forceinline__ void multiply_strip(float (&sum)[40], const __half* high,
                                               const __half* low, std::uint64_t weights) {
  if constexpr (kStep < kSteps) {
    std::uint32_t a[2][4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int at = (r & 1) * 8 * kSincStride + kStep * 16 + (r >> 1) * 8;
      a[0][r] = *reinterpret_cast<const std::uint32_t*>(high + at);
      a[1][r] = *reinterpret_cast<const std::uint32_t*>(low + at);
    }
    const std::uint64_t b = weights + 2 * kStep * kSincFilters;
    products_begin();
    Product<80>::add_from_registers(sum, a[1], b);
    Product<80>::add_from_registers(sum, a[0], b + kWeightPart / 16);
    Product<80>::add_from_registers(sum, a[0], b);
    products_commit();
    products_wait<1>();
    multiply_strip<kStep + 1>(sum, high, low, weights);
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    sinc(const __grid_constant__ SincMmaArgs args, int strips) {
  extern __shared__ __align__(128) std::uint8_t shared[];
  const int thread = static_cast<int>(threadIdx.x) % kTeamThreads, lane = thread & 31;
  // Broadcast, so that the compiler knows it to be the same for the warp.
  const int team = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x) / kTeamThreads, 0);
  for (int i = threadIdx.x; i < 2 * kWeightPart / 16; i += kThreads)
    reinterpret_cast<uint4*>(shared)[i] = __ldg(static_cast<const uint4*>(args.weights) + i);
  fence_async();
  __syncthreads();
  const std::uint64_t weights = plain_operand(shared_address(shared), kSincFilters * 16);
  __half* const high = reinterpret_cast<__half*>(shared + 2 * kWeightPart + team * 2 * kPart * 2);
  __half* const low = high + kPart;
  const int row = thread / 32 * 16 + (lane >> 2);  // and the one 8 further
  const int first = row * kSincStride + 2 * (lane & 3);
  const int total = args.items.count * strips;
  // Neighbouring units go to different multiprocessors: few items still use them all.
  for (int unit = team * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x); unit < total;
       unit += kTeams * static_cast<int>(gridDim.x)) {
    const int item = unit / strips, row0 = unit % strips * kStrip;
    const int length = args.items.length[item];
    const int rows = (length - kSincTaps) / kSincStride + 1;  // length >= 251, or the strip is out
    if (length < kSincTaps || row0 >= rows) continue;
    const float* x = args.samples + args.items.input[item] + row0 * kSincStride;
    const int count = length - row0 * kSincStride;
    float* const out = args.rows + args.items.output[item] +
                       static_cast<std::int64_t>(row0 + row) * kSincFilters + 2 * (lane & 3);
    named_barrier(team + 1, kTeamThreads);  // the strip before has been read
    const bool loud = any_of_team(
        team, load_strip<kPart, kTeamThreads>(x, count, level_scale(0), high, low, thread));
    // Levels of this thread's two rows; -1: there is no such row.
    int level[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      level[h] = row0 + row + 8 * h < rows ? 0 : -1;
      if (loud && level[h] == 0) level[h] = level_of_row(x + (row + 8 * h) * kSincStride);
    }
    for (int pass = 0; pass < (loud ? kSincLevels + 1 : 1); ++pass) {
      if (loud) {
        if (!any_of_team(team, level[0] == pass || level[1] == pass)) continue;
        load_strip<kPart, kTeamThreads>(x, count, level_scale(pass), high, low, thread);
        named_barrier(team + 1, kTeamThreads);
      }
      float sum[40];
#pragma unroll
      for (int i = 0; i < 40; ++i) sum[i] = 0;
      multiply_strip<0>(sum, high + first, low + first, weights);
      products_wait<0>();
      const float unscale = level_unscale(args.weight_unscale, pass);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if (level[h] != pass) continue;
#pragma unroll
        for (int n = 0; n < kSincFilters / 8; ++n)
          *reinterpret_cast<float2*>(out + h * 8 * kSincFilters + n * 8) =
              make_float2(sum[4 * n + 2 * h] * unscale, sum[4 * n + 2 * h + 1] * unscale);
      }
    }
  }
}

}  // namespace

cudaError_t prepare_sinc() {
  return cudaFuncSetAttribute(sinc, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
}

cudaError_t launch_sinc(const SincMmaArgs& args, cudaStream_t stream) {
  int longest = 0;
  for (int i = 0; i < args.items.count; ++i)
    longest = args.items.length[i] > longest ? args.items.length[i] : longest;
  if (longest < kSincTaps) return cudaSuccess;
  const int strips = ((longest - kSincTaps) / kSincStride + kStrip) / kStrip;
  const int total = strips * args.items.count;
  const int grid = total < args.multiprocessors ? total : args.multiprocessors;
  sinc<<<grid, kThreads, kShared, stream>>>(args, strips);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda::hopper
