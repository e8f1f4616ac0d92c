// Kernels of pool.hpp.
//
// pool: a CTA per item and 64 columns; thread (column, chain) adds up every eighth frame, the
// chains are added in order. last_layer: a CTA per 8 items and 64 outputs; four groups of threads
// take a quarter of the inputs each, the quarters are added in order. Nothing depends on the other
// items.

#include "backend/cuda/kernels/campplus/pool.hpp"

namespace diarist::backend::cuda::campplus {
namespace {

constexpr int kPoolColumns = 64, kPoolChains = 8;
constexpr int kPoolThreads = kPoolColumns * kPoolChains;
constexpr int kLayerItems = 8, kLayerOutputs = 64, kLayerQuarters = 4;
constexpr int kLayerThreads = kLayerOutputs * kLayerQuarters;
constexpr int kLayerStep = 32;  // inputs of each quarter in shared memory at a time

__global__ void __launch_bounds__(kPoolThreads) pool(PoolArgs args) {
  __shared__ float sums[kPoolChains][kPoolColumns];
  const PoolItem item = args.items[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x);
  const int within = thread % kPoolColumns, chain = thread / kPoolColumns;
  const int column = static_cast<int>(blockIdx.y) * kPoolColumns + within;
  const bool there = column < args.columns;
  const auto frame = [&](int i) {
    std::int64_t row = item.first + i;
    if (args.indices != nullptr) {
      row = args.indices[row];
      if (row < 0 || row >= args.rows) return __int_as_float(0x7FFFFFFF);
    }
    return there ? args.frames[row * args.columns + column] : 0.0F;
  };
  const auto total = [&](float mine) {
    __syncthreads();
    sums[chain][within] = mine;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kPoolChains; ++i) sum += sums[i][within];
    return sum;
  };
  float sum = 0;
#pragma unroll 8
  for (int i = chain; i < item.count; i += kPoolChains) sum += frame(i);
  const float mean = total(sum) / static_cast<float>(item.count);
  sum = 0;
#pragma unroll 8
  for (int i = chain; i < item.count; i += kPoolChains) {
    const float d = frame(i) - mean;
    sum = fmaf(d, d, sum);
  }
  const float squares = total(sum);
  if (chain != 0 || !there) return;
  float* const out =
      args.statistics + static_cast<std::size_t>(blockIdx.x) * 2 * args.columns + column;
  out[0] = mean;
  out[args.columns] = item.count == 1 ? 0.01F : sqrtf(squares / static_cast<float>(item.count - 1));
}

__global__ void __launch_bounds__(kLayerThreads) last_layer(LastLayerArgs args) {
  __shared__ float x[kLayerQuarters][kLayerItems][kLayerStep];
  __shared__ float sums[kLayerQuarters][kLayerItems][kLayerOutputs];
  const int thread = static_cast<int>(threadIdx.x);
  const int within = thread % kLayerOutputs, quarter = thread / kLayerOutputs;
  const int output = static_cast<int>(blockIdx.y) * kLayerOutputs + within;
  const int item0 = static_cast<int>(blockIdx.x) * kLayerItems;
  const int length = (args.inputs + kLayerQuarters - 1) / kLayerQuarters;
  float sum[kLayerItems] = {};
  for (int step = 0; step < length; step += kLayerStep) {
    __syncthreads();
    for (int i = thread; i < kLayerQuarters * kLayerItems * kLayerStep; i += kLayerThreads) {
      const int k = i % kLayerStep, item = i / kLayerStep % kLayerItems;
      const int part = i / (kLayerStep * kLayerItems), input = part * length + step + k;
      const bool inside =
          step + k < length && input < args.inputs && item0 + item < args.items_count;
      x[part][item][k] =
          inside ? args.statistics[static_cast<std::size_t>(item0 + item) * args.inputs + input]
                 : 0.0F;
    }
    __syncthreads();
    if (output >= args.outputs) continue;
#pragma unroll 8
    for (int k = 0; k < kLayerStep; ++k) {
      const int input = quarter * length + step + k;
      const float w =
          step + k < length && input < args.inputs
              ? __ldg(args.weight + static_cast<std::size_t>(input) * args.outputs + output)
              : 0.0F;
#pragma unroll
      for (int item = 0; item < kLayerItems; ++item)
        sum[item] = fmaf(w, x[quarter][item][k], sum[item]);
    }
  }
#pragma unroll
  for (int item = 0; item < kLayerItems; ++item) sums[quarter][item][within] = sum[item];
  __syncthreads();
  if (output >= args.outputs) return;
  for (int item = quarter; item < kLayerItems && item0 + item < args.items_count;
       item += kLayerQuarters) {
    float y = args.bias[output];
#pragma unroll
    for (int part = 0; part < kLayerQuarters; ++part) y += sums[part][item][within];
    args.out[(item0 + item) * args.item_stride + output] = y;
  }
}

}  // namespace

cudaError_t launch_pool(const PoolArgs& args, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(args.items_count),
                  static_cast<unsigned>((args.columns + kPoolColumns - 1) / kPoolColumns));
  pool<<<grid, kPoolThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_last_layer(const LastLayerArgs& args, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((args.items_count + kLayerItems - 1) / kLayerItems),
                  static_cast<unsigned>((args.outputs + kLayerOutputs - 1) / kLayerOutputs));
  last_layer<<<grid, kLayerThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda::campplus
