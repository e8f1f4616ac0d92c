// Kernels of map_passes.hpp.

#include <cuda_fp16.h>

#include <algorithm>

#include "backend/cuda/library/map_passes.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kMostItems = 65535;  // of a grid's second axis

// True when a value of the word (two halves or one f32) has the exponent of infinities.
template <bool kHalves>
__device__ __forceinline__ bool beyond(unsigned word) {
  if (kHalves) return (word & 0x7C00U) == 0x7C00U || (word & 0x7C000000U) == 0x7C000000U;
  return (word & 0x7F800000U) == 0x7F800000U;
}

// `words` of 16 bytes per item.
template <bool kHalves>
__global__ void __launch_bounds__(kThreads)
    range_scan(const uint4* map, std::int64_t words, std::uint32_t* range) {
  const uint4* item = map + blockIdx.y * words;
  bool found = false;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < words;
       i += std::int64_t{gridDim.x} * kThreads) {
    const uint4 word = __ldg(item + i);
    found = found || beyond<kHalves>(word.x) || beyond<kHalves>(word.y) ||
            beyond<kHalves>(word.z) || beyond<kHalves>(word.w);
  }
  if (__syncthreads_or(found) && threadIdx.x == 0) range[blockIdx.y] = 1;
}

__device__ __forceinline__ float to_float(__half x) { return __half2float(x); }
__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ void store(__half* to, float x) { *to = __float2half_rn(x); }
__device__ __forceinline__ void store(float* to, float x) { *to = x; }

template <typename T>
struct alignas(16) Pack {
  T value[16 / sizeof(T)];
};

template <typename T>
__global__ void __launch_bounds__(kThreads)
    epilogue(Pack<T>* map, const T* bias, const Pack<T>* residual, std::int64_t packs, int channels,
             bool relu) {
  constexpr int kWidth = 16 / sizeof(T);
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < packs;
       i += std::int64_t{gridDim.x} * kThreads) {
    Pack<T> pack = map[i], added;
    if (residual != nullptr) added = residual[i];
    const int channel = static_cast<int>(i % (channels / kWidth)) * kWidth;
    for (int c = 0; c < kWidth; ++c) {
      float sum = to_float(pack.value[c]) + to_float(bias[channel + c]);
      if (residual != nullptr) sum += to_float(added.value[c]);
      store(&pack.value[c], relu ? fmaxf(sum, 0.0F) : sum);
    }
    map[i] = pack;
  }
}

// Enough blocks that a thread has about `each` packs, at most `most`.
unsigned blocks_for(std::int64_t packs, int each, unsigned most) {
  const std::int64_t share = std::int64_t{kThreads} * each;
  return static_cast<unsigned>(std::clamp<std::int64_t>((packs + share - 1) / share, 1, most));
}

std::int64_t packs_of(const MapArgs& args) { return args.values / (args.halves ? 8 : 4); }

}  // namespace

cudaError_t launch_range_scan(const MapArgs& args, std::uint32_t* range, cudaStream_t stream) {
  if (args.values % 8 != 0 || args.items > kMostItems) return cudaErrorNotSupported;
  const std::int64_t words = packs_of(args);
  // A block has its item for itself.
  const dim3 grid(blocks_for(words, 8, 64), static_cast<unsigned>(args.items));
  const auto* map = static_cast<const uint4*>(args.map);
  if (args.halves)
    range_scan<true><<<grid, kThreads, 0, stream>>>(map, words, range);
  else
    range_scan<false><<<grid, kThreads, 0, stream>>>(map, words, range);
  return cudaGetLastError();
}

cudaError_t launch_epilogue(const MapArgs& args, const void* bias, const void* residual,
                            int channels, bool relu, cudaStream_t stream) {
  if (args.values % 8 != 0 || channels % 8 != 0) return cudaErrorNotSupported;
  const std::int64_t packs = packs_of(args) * args.items;
  const unsigned blocks = blocks_for(packs, 4, 4096);
  if (args.halves)
    epilogue<__half><<<blocks, kThreads, 0, stream>>>(
        static_cast<Pack<__half>*>(args.map), static_cast<const __half*>(bias),
        static_cast<const Pack<__half>*>(residual), packs, channels, relu);
  else
    epilogue<float><<<blocks, kThreads, 0, stream>>>(
        static_cast<Pack<float>*>(args.map), static_cast<const float*>(bias),
        static_cast<const Pack<float>*>(residual), packs, channels, relu);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
