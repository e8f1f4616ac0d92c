// Kernels of embed_ends.hpp.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/embed_ends.hpp"

namespace diarist::backend::cuda {
namespace {

// One CTA per (item, frequency, group of channels): the group's columns are read once, in 16-byte
// pieces, into 64,000 bytes of shared memory: 256 channels in halves, 128 with their low parts. A
// thread makes two channels (one in split mode) for all masks.
constexpr int kPoolTime = 125, kPoolSpeakers = 3, kPoolThreads = 128;
constexpr int kPoolRow = 256;  // halves of a time step

template <bool kSplit>
__global__ void __launch_bounds__(kPoolThreads) masked_pool(PoolArgs args) {
  extern __shared__ __align__(16) __half tile[];  // [time][256]; split: [time][2][128]
  __shared__ float weights[kPoolTime][kPoolSpeakers];
  __shared__ float2 totals[kPoolSpeakers];  // sum + 1e-8, and sum of squares
  const int item = static_cast<int>(blockIdx.z), f = static_cast<int>(blockIdx.x);
  const int channel0 = static_cast<int>(blockIdx.y) * (kSplit ? kPoolRow / 2 : kPoolRow);
  const int parts = kSplit ? 2 : 1;
  const __half* column =
      args.map +
      (static_cast<std::size_t>(item) * args.frequency + f) * kPoolTime * args.channels * parts +
      channel0;
  constexpr int kPieces = kPoolRow / 8;  // per time step
#pragma unroll 8
  for (int i = threadIdx.x; i < kPoolTime * kPieces; i += kPoolThreads) {
    const int t = i / kPieces, piece = i % kPieces;
    const bool low = kSplit && piece >= kPieces / 2;
    const __half* source = column + static_cast<std::size_t>(t) * args.channels * parts +
                           (low ? args.channels + (piece - kPieces / 2) * 8 : piece * 8);
    reinterpret_cast<uint4*>(tile)[i] = *reinterpret_cast<const uint4*>(source);
  }
  const float* masks = args.masks + item * args.mask_stride;
  for (int t = threadIdx.x; t < kPoolTime; t += kPoolThreads) {
    const int frame = t * args.mask_frames / kPoolTime;
#pragma unroll
    for (int s = 0; s < kPoolSpeakers; ++s)
      weights[t][s] = s < args.speakers ? masks[s * args.mask_frames + frame] : 0.0F;
  }
  __syncthreads();
  if (threadIdx.x < kPoolSpeakers) {
    float sum = 0, squares = 0;
    for (int t = 0; t < kPoolTime; ++t) {
      const float w = weights[t][threadIdx.x];
      sum += w;
      squares = fmaf(w, w, squares);
    }
    totals[threadIdx.x] = make_float2(sum + 1e-8F, squares);
    if (args.range != nullptr && !isfinite(squares)) args.range[item] = 1;
  }
  const auto read = [&](int t) {
    if (kSplit)
      return make_float2(__half2float(tile[t * kPoolRow + threadIdx.x]) +
                             __half2float(tile[t * kPoolRow + kPoolRow / 2 + threadIdx.x]),
                         0.0F);
    return __half22float2(*reinterpret_cast<const __half2*>(tile + t * kPoolRow + 2 * threadIdx.x));
  };
  float2 mean[kPoolSpeakers] = {}, variance[kPoolSpeakers] = {};
#pragma unroll 5
  for (int t = 0; t < kPoolTime; ++t) {
    const float2 x = read(t);
    const float* const w = weights[t];
#pragma unroll
    for (int s = 0; s < kPoolSpeakers; ++s) {
      mean[s].x = fmaf(w[s], x.x, mean[s].x);
      if (!kSplit) mean[s].y = fmaf(w[s], x.y, mean[s].y);
    }
  }
  __syncthreads();
#pragma unroll
  for (int s = 0; s < kPoolSpeakers; ++s) {
    mean[s].x /= totals[s].x;
    mean[s].y /= totals[s].x;
  }
#pragma unroll 5
  for (int t = 0; t < kPoolTime; ++t) {
    const float2 x = read(t);
    const float* const w = weights[t];
#pragma unroll
    for (int s = 0; s < kPoolSpeakers; ++s) {
      const float2 d = make_float2(x.x - mean[s].x, x.y - mean[s].y);
      variance[s].x = fmaf(w[s] * d.x, d.x, variance[s].x);
      if (!kSplit) variance[s].y = fmaf(w[s] * d.y, d.y, variance[s].y);
    }
  }
  const int rows = args.channels * args.frequency;
#pragma unroll
  for (int s = 0; s < kPoolSpeakers; ++s) {
    if (s >= args.speakers) break;
    const float divisor = totals[s].x - totals[s].y / totals[s].x + 1e-8F;
    float* out = args.statistics + (static_cast<std::size_t>(item) * args.speakers + s) * 2 * rows;
    const int channel = channel0 + static_cast<int>(threadIdx.x) * (kSplit ? 1 : 2);
    out[channel * args.frequency + f] = mean[s].x;
    out[rows + channel * args.frequency + f] = sqrtf(variance[s].x / divisor);
    if (kSplit) continue;
    out[(channel + 1) * args.frequency + f] = mean[s].y;
    out[rows + (channel + 1) * args.frequency + f] = sqrtf(variance[s].y / divisor);
  }
}

// The head is a product of [rows, inputs] and [outputs, inputs] transposed. A CTA makes 32 rows x
// 64 outputs over one slice of the inputs; head_sum adds the slices in order. Nothing depends on
// the number of rows.
constexpr int kHeadRows = 32, kHeadOutputs = 64, kHeadStep = 32;

__global__ void __launch_bounds__(256) head_slices(HeadArgs args) {
  __shared__ float x[kHeadStep][kHeadRows + 4], w[kHeadStep][kHeadOutputs + 4];
  const int rows = args.items * args.speakers, length = args.inputs / kHeadSlices;
  const int row0 = static_cast<int>(blockIdx.x) * kHeadRows;
  const int output0 = static_cast<int>(blockIdx.y) * kHeadOutputs;
  const int start = static_cast<int>(blockIdx.z) * length;
  const int group = static_cast<int>(threadIdx.x) % 16, pair = static_cast<int>(threadIdx.x) / 16;
  float sum[2][4] = {};
  for (int k0 = start; k0 < start + length; k0 += kHeadStep) {
    __syncthreads();
    {  // 32 columns of a row are one warp's load
      const int k = static_cast<int>(threadIdx.x & 31), first = static_cast<int>(threadIdx.x >> 5);
#pragma unroll
      for (int r = first; r < kHeadRows; r += 8)
        x[k][r] = row0 + r < rows ? args.statistics[static_cast<std::size_t>(row0 + r) *
                                                        static_cast<std::size_t>(args.inputs) +
                                                    k0 + k]
                                  : 0.0F;
#pragma unroll
      for (int o = first; o < kHeadOutputs; o += 8)
        w[k][o] = args.weight[static_cast<std::size_t>(output0 + o) *
                                  static_cast<std::size_t>(args.inputs) +
                              k0 + k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kHeadStep; ++k) {
      const float4 b = *reinterpret_cast<const float4*>(&w[k][group * 4]);
      const float2 a = *reinterpret_cast<const float2*>(&x[k][pair * 2]);
      const float as[2] = {a.x, a.y}, bs[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(as[i], bs[j], sum[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = row0 + pair * 2 + i;
    if (row >= rows) continue;
    float* out = args.slices + (static_cast<std::size_t>(blockIdx.z) * rows + row) * args.outputs +
                 output0 + group * 4;
    *reinterpret_cast<float4*>(out) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
  }
}

__global__ void head_sum(HeadArgs args) {
  const int rows = args.items * args.speakers;
  const int row = static_cast<int>(blockIdx.x), output = static_cast<int>(threadIdx.x);
  float part[kHeadSlices];
#pragma unroll
  for (int slice = 0; slice < kHeadSlices; ++slice)
    part[slice] =
        args.slices[(static_cast<std::size_t>(slice) * rows + row) * args.outputs + output];
  float sum = args.bias[output];
#pragma unroll
  for (int slice = 0; slice < kHeadSlices; ++slice) sum += part[slice];
  args.embeddings[row / args.speakers * args.item_stride + row % args.speakers * args.outputs +
                  output] = sum;
}

__global__ void map_tap(TapArgs args) {
  const int item = static_cast<int>(blockIdx.z), channel = static_cast<int>(blockIdx.y);
  const int pixel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int pixels = args.frequency * args.time, parts = args.split ? 2 : 1;
  if (pixel >= pixels) return;
  const __half* x = args.map +
                    (static_cast<std::size_t>(item) * pixels + pixel) * args.channels * parts +
                    channel;
  float value = __half2float(x[0]);
  if (args.split) value += __half2float(x[args.channels]);
  args.output[item * args.item_stride + static_cast<std::int64_t>(channel) * pixels + pixel] =
      value;
}

}  // namespace

cudaError_t prepare_embed_ends() {
  constexpr int kBytes = kPoolTime * kPoolRow * 2;
  const cudaError_t error =
      cudaFuncSetAttribute(masked_pool<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(masked_pool<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              kBytes);
}

cudaError_t launch_masked_pool(const PoolArgs& args, cudaStream_t stream) {
  if (args.channels % kPoolRow != 0 || args.time != kPoolTime || args.speakers > kPoolSpeakers)
    return cudaErrorNotSupported;
  const int groups = args.channels / (args.split ? kPoolRow / 2 : kPoolRow);
  const dim3 grid(static_cast<unsigned>(args.frequency), static_cast<unsigned>(groups),
                  static_cast<unsigned>(args.items));
  constexpr int kBytes = kPoolTime * kPoolRow * 2;
  if (args.split)
    masked_pool<true><<<grid, kPoolThreads, kBytes, stream>>>(args);
  else
    masked_pool<false><<<grid, kPoolThreads, kBytes, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_head(const HeadArgs& args, cudaStream_t stream) {
  if (args.inputs % (kHeadSlices * kHeadStep) != 0 || args.outputs % kHeadOutputs != 0 ||
      args.outputs > 1024)
    return cudaErrorNotSupported;
  const int rows = args.items * args.speakers;
  const dim3 grid(static_cast<unsigned>((rows + kHeadRows - 1) / kHeadRows),
                  static_cast<unsigned>(args.outputs / kHeadOutputs), kHeadSlices);
  head_slices<<<grid, 256, 0, stream>>>(args);
  head_sum<<<static_cast<unsigned>(rows), static_cast<unsigned>(args.outputs), 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_map_tap(const TapArgs& args, cudaStream_t stream) {
  const int pixels = args.frequency * args.time;
  const dim3 grid(static_cast<unsigned>((pixels + 255) / 256), static_cast<unsigned>(args.channels),
                  static_cast<unsigned>(args.items));
  map_tap<<<grid, 256, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
