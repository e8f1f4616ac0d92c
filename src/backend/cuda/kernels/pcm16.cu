// 16-bit samples to f32, eight per thread and step: the source is usually page-locked host memory,
// read once across the bus in pieces of 16 bytes.

#include "backend/cuda/kernels/pcm16.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kThreads = 256, kMostBlocks = 64;
constexpr float kScale = 1.0F / 32768.0F;

__global__ void __launch_bounds__(kThreads)
    pcm16(const std::int16_t* __restrict__ source, float* __restrict__ target, std::int64_t count) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  for (std::int64_t i = thread; i < count / 8; i += step) {
    const int4 eight = reinterpret_cast<const int4*>(source)[i];
    const int words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      target[8 * i + 2 * j] = static_cast<float>(static_cast<std::int16_t>(words[j])) * kScale;
      target[8 * i + 2 * j + 1] = static_cast<float>(words[j] >> 16) * kScale;
    }
  }
  for (std::int64_t i = count / 8 * 8 + thread; i < count; i += step)
    target[i] = static_cast<float>(source[i]) * kScale;
}

}  // namespace

cudaError_t launch_pcm16(const std::int16_t* source, float* target, std::int64_t count,
                         cudaStream_t stream) {
  if (count < 1) return cudaSuccess;
  const std::int64_t blocks = (count / 8 + kThreads) / kThreads;
  pcm16<<<static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks), kThreads, 0,
          stream>>>(source, target, count);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
