// Mean of every band over time, and the features without it as halves, time along the rows.
//
// One CTA of 8 warps takes 8 bands of an item, one warp a band: lane l holds time steps l, l + 32,
// ... in registers, so the rows are read once (32-byte pieces; the warps share them in L1).

#include <cuda_fp16.h>

#include "backend/cuda/kernels/features.hpp"
#include "backend/cuda/kernels/stem_mma.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kBands = 80, kWarps = 8, kSteps = 32;  // up to 1024 time steps

__global__ void __launch_bounds__(kWarps * 32) prepare_features(FeaturesArgs args) {
  const int item = static_cast<int>(blockIdx.y), lane = static_cast<int>(threadIdx.x & 31);
  const int band = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x >> 5);
  const int position = args.positions != nullptr ? args.positions[item] : item;
  const float* column = args.rows + position * args.item_stride + band;
  float x[kSteps];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    const int t = lane + 32 * i;
    x[i] = t < args.time ? column[static_cast<std::int64_t>(t) * kBands] : 0.0F;
    sum += x[i];
  }
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xFFFFFFFFU, sum, offset);
  const float mean = args.remove_mean ? sum / static_cast<float>(args.time) : 0.0F;
  if (args.means != nullptr && lane == 0) args.means[item * kBands + band] = mean;
  if (args.features == nullptr) return;
  const std::size_t at =
      (static_cast<std::size_t>(item) * kFeatureRows + band + kFeatureRow0) * kFeatureColumns +
      kFeatureColumn0;
  bool overflow = false;
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    const int t = lane + 32 * i;
    if (t >= args.time) continue;
    const float value = x[i] - mean;
    overflow = overflow || !(fabsf(value) <= 65504.0F);
    const __half high = __float2half_rn(value);
    args.features[at + t] = high;
    if (args.low_features != nullptr)
      args.low_features[at + t] = __float2half_rn(value - __half2float(high));
  }
  if (overflow && args.range != nullptr) args.range[item] = 1;
}

__global__ void gather(GatherArgs args) {
  const int item = static_cast<int>(blockIdx.y);
  const int position = args.positions != nullptr ? args.positions[item] : item;
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < args.width)
    args.target[item * args.width + i] = args.source[position * args.item_stride + i];
}

}  // namespace

cudaError_t launch_features(const FeaturesArgs& args, cudaStream_t stream) {
  if (args.time > 32 * kSteps || args.time < 1) return cudaErrorNotSupported;
  const dim3 grid(kBands / kWarps, static_cast<unsigned>(args.items));
  prepare_features<<<grid, kWarps * 32, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_gather(const GatherArgs& args, cudaStream_t stream) {
  constexpr int kThreads = 256;
  const dim3 grid(static_cast<unsigned>((args.width + kThreads - 1) / kThreads),
                  static_cast<unsigned>(args.items));
  gather<<<grid, kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
