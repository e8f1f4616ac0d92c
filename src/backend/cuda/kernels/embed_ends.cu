// Kernels of embed_ends.hpp.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/embed_ends.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kBands = 80;
constexpr int kStemChannels = 32;
constexpr float kHalfLimit = 65504.0F;

// One CTA per item: eight groups of time steps, each summed in order, then added in order.
__global__ void band_means(const float* rows, std::int64_t item_stride, int time, float* means) {
  constexpr int kGroups = 8;
  __shared__ float partial[kGroups][kBands];
  const int band = threadIdx.x % kBands, group = threadIdx.x / kBands;
  const float* item = rows + blockIdx.x * item_stride;
  const int span = (time + kGroups - 1) / kGroups;
  float sum = 0;
  for (int t = group * span; t < min((group + 1) * span, time); ++t) sum += item[t * kBands + band];
  partial[group][band] = sum;
  __syncthreads();
  if (group > 0) return;
  for (int g = 1; g < kGroups; ++g) sum += partial[g][band];
  means[blockIdx.x * kBands + band] = sum / static_cast<float>(time);
}

// A CTA makes all 80 frequencies of kSteps time steps; a thread makes 32 channels of some pixels.
constexpr int kStemSteps = 16, kStemThreads = 256;

__global__ void __launch_bounds__(kStemThreads) stem(StemArgs args) {
  __shared__ float features[kBands + 2][kStemSteps + 3];
  __shared__ float weights[9][kStemChannels];
  __shared__ float bias[kStemChannels];
  const int item = static_cast<int>(blockIdx.y), t0 = static_cast<int>(blockIdx.x) * kStemSteps;
  const float* rows = args.rows + item * args.item_stride;
  const float* means = args.means + item * kBands;
  for (int i = threadIdx.x; i < (kBands + 2) * (kStemSteps + 2); i += kStemThreads) {
    const int band = i % (kBands + 2) - 1, step = i / (kBands + 2), t = t0 + step - 1;
    const bool inside = band >= 0 && band < kBands && t >= 0 && t < args.time;
    features[band + 1][step] = inside ? rows[t * kBands + band] - means[band] : 0.0F;
  }
  for (int i = threadIdx.x; i < 9 * kStemChannels; i += kStemThreads)
    weights[i / kStemChannels][i % kStemChannels] = args.weights[i];
  if (threadIdx.x < kStemChannels) bias[threadIdx.x] = args.bias[threadIdx.x];
  __syncthreads();
  // Four threads share a pixel, eight channels each: 16 bytes of output per thread.
  bool overflow = false;
  const int parts = args.split ? 2 : 1;
  for (int i = threadIdx.x; i < kBands * kStemSteps * 4; i += kStemThreads) {
    const int group = i & 3, step = (i >> 2) % kStemSteps, band = (i >> 2) / kStemSteps;
    if (t0 + step >= args.time) continue;
    float sum[8];
    for (int c = 0; c < 8; ++c) sum[c] = bias[group * 8 + c];
    for (int tap = 0; tap < 9; ++tap) {
      const float x = features[band + tap / 3][step + tap % 3];
      for (int c = 0; c < 8; ++c) sum[c] = fmaf(x, weights[tap][group * 8 + c], sum[c]);
    }
    __half2 high[4], low[4];
    for (int c = 0; c < 4; ++c) {
      float x = fmaxf(sum[2 * c], 0.0F), y = fmaxf(sum[2 * c + 1], 0.0F);
      overflow = overflow || !(x <= kHalfLimit) || !(y <= kHalfLimit);
      x = fminf(x, kHalfLimit);
      y = fminf(y, kHalfLimit);
      high[c] = __floats2half2_rn(x, y);
      const float2 rounded = __half22float2(high[c]);
      low[c] = __floats2half2_rn(x - rounded.x, y - rounded.y);
    }
    __half* pixel =
        args.output + ((static_cast<std::size_t>(item) * kBands + band) * args.time + t0 + step) *
                          kStemChannels * parts;
    *reinterpret_cast<uint4*>(pixel + group * 8) = *reinterpret_cast<uint4*>(high);
    if (args.split)
      *reinterpret_cast<uint4*>(pixel + kStemChannels + group * 8) = *reinterpret_cast<uint4*>(low);
  }
  if (overflow && args.range != nullptr) args.range[item] = 1;
}

// One CTA per (item, frequency), one thread per channel. The column of one thread is read once into
// registers; the masks lie in shared memory.
constexpr int kPoolTime = 125, kPoolSpeakers = 4;

__global__ void __launch_bounds__(256) masked_pool(PoolArgs args) {
  __shared__ float weights[kPoolSpeakers][kPoolTime];
  __shared__ float totals[kPoolSpeakers][2];  // sum of weights + 1e-8, sum of squares
  const int item = static_cast<int>(blockIdx.y), f = static_cast<int>(blockIdx.x);
  const float* masks = args.masks + item * args.mask_stride;
  for (int i = threadIdx.x; i < args.speakers * args.time; i += blockDim.x) {
    const int speaker = i / args.time, t = i % args.time;
    weights[speaker][t] = masks[speaker * args.mask_frames + t * args.mask_frames / args.time];
  }
  __syncthreads();
  if (threadIdx.x < args.speakers) {
    float sum = 0, squares = 0;
    for (int t = 0; t < args.time; ++t) {
      const float w = weights[threadIdx.x][t];
      sum += w;
      squares += w * w;
    }
    totals[threadIdx.x][0] = sum + 1e-8F;
    totals[threadIdx.x][1] = squares;
  }
  __syncthreads();
  const int channel = threadIdx.x, parts = args.split ? 2 : 1;
  const __half* column =
      args.map +
      (static_cast<std::size_t>(item) * args.frequency + f) * args.time * args.channels * parts +
      channel;
  float x[kPoolTime];
#pragma unroll
  for (int t = 0; t < kPoolTime; ++t) {
    x[t] = __half2float(column[static_cast<std::size_t>(t) * args.channels * parts]);
    if (args.split)
      x[t] +=
          __half2float(column[static_cast<std::size_t>(t) * args.channels * parts + args.channels]);
  }
  const int rows = args.channels * args.frequency;
  for (int speaker = 0; speaker < args.speakers; ++speaker) {
    const float v1 = totals[speaker][0], v2 = totals[speaker][1];
    float mean = 0;
#pragma unroll
    for (int t = 0; t < kPoolTime; ++t) mean = fmaf(weights[speaker][t], x[t], mean);
    mean /= v1;
    float variance = 0;
#pragma unroll
    for (int t = 0; t < kPoolTime; ++t) {
      const float difference = x[t] - mean;
      variance = fmaf(weights[speaker][t] * difference, difference, variance);
    }
    variance /= v1 - v2 / v1 + 1e-8F;
    float* out = args.statistics +
                 (static_cast<std::size_t>(item) * args.speakers + speaker) * 2 * rows +
                 channel * args.frequency + f;
    out[0] = mean;
    out[rows] = sqrtf(variance);
  }
}

// A warp makes one output of four rows: lanes stride over the inputs, then a fixed tree adds them.
__global__ void __launch_bounds__(256) head(HeadArgs args) {
  constexpr int kRows = 4;
  const int warp = static_cast<int>(threadIdx.x >> 5), lane = static_cast<int>(threadIdx.x & 31);
  const int output = static_cast<int>(blockIdx.x) * 8 + warp;
  const int row0 = static_cast<int>(blockIdx.y) * kRows, rows = args.items * args.speakers;
  if (output >= args.outputs) return;
  const float* weight = args.weight + static_cast<std::size_t>(output) * args.inputs;
  float sum[kRows] = {};
  for (int i = lane * 4; i < args.inputs; i += 128) {
    const float4 w = *reinterpret_cast<const float4*>(weight + i);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (row0 + r >= rows) break;
      const float4 x = *reinterpret_cast<const float4*>(
          args.statistics + static_cast<std::size_t>(row0 + r) * args.inputs + i);
      sum[r] = fmaf(w.x, x.x, fmaf(w.y, x.y, fmaf(w.z, x.z, fmaf(w.w, x.w, sum[r]))));
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    for (int offset = 16; offset > 0; offset >>= 1)
      sum[r] += __shfl_xor_sync(0xffffffffU, sum[r], offset);
    const int row = row0 + r;
    if (lane == 0 && row < rows)
      args.embeddings[row / args.speakers * args.item_stride + row % args.speakers * args.outputs +
                      output] = sum[r] + args.bias[output];
  }
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

cudaError_t launch_band_means(const float* rows, std::int64_t item_stride, int items, int time,
                              float* means, cudaStream_t stream) {
  band_means<<<static_cast<unsigned>(items), 8 * kBands, 0, stream>>>(rows, item_stride, time,
                                                                      means);
  return cudaGetLastError();
}

cudaError_t launch_stem(const StemArgs& args, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((args.time + kStemSteps - 1) / kStemSteps),
                  static_cast<unsigned>(args.items));
  stem<<<grid, kStemThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_masked_pool(const PoolArgs& args, cudaStream_t stream) {
  if (args.channels != 256 || args.time != kPoolTime || args.speakers > kPoolSpeakers)
    return cudaErrorNotSupported;
  const dim3 grid(static_cast<unsigned>(args.frequency), static_cast<unsigned>(args.items));
  masked_pool<<<grid, 256, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_head(const HeadArgs& args, cudaStream_t stream) {
  if (args.inputs % 4 != 0) return cudaErrorNotSupported;
  const dim3 grid(static_cast<unsigned>((args.outputs + 7) / 8),
                  static_cast<unsigned>((args.items * args.speakers + 3) / 4));
  head<<<grid, 256, 0, stream>>>(args);
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
