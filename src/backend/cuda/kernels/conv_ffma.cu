// Kernels of conv_ffma.hpp.

#include "backend/cuda/kernels/conv_ffma.hpp"

namespace diarist::backend::cuda {
namespace {

__device__ __forceinline__ bool is_finite(float x) { return fabsf(x) <= 3.402823466e38F; }

struct Strides {
  int taps, f, t;
};

// A CTA computes kPixels pixels of one row times kOutputs channels; a thread eight pixels times
// four channels. Taps go one after another, channels by slabs of 16; while a slab is summed from
// one buffer of shared memory, the next one is on its way through registers to the other.
template <int kPixels, int kOutputs>
struct FfmaTile {
  static constexpr int kSlab = 16;
  static constexpr int kThreads = kPixels / 8 * (kOutputs / 4);
  static constexpr int kPitch = kPixels + 4;  // floats; keeps columns of pixels off one bank
  static constexpr int kPixelLoads = kPixels * kSlab / 4 / kThreads;  // of 16 bytes per thread
  static constexpr int kWeightLoads = kSlab * kOutputs / 4 / kThreads;
  static_assert(kPixelLoads * kThreads * 4 == kPixels * kSlab);
  static_assert(kWeightLoads * kThreads * 4 == kSlab * kOutputs);
};

template <int kPixels, int kOutputs>
__global__ void __launch_bounds__(FfmaTile<kPixels, kOutputs>::kThreads)
    conv_ffma(ConvFfmaArgs args, Strides strides) {
  using T = FfmaTile<kPixels, kOutputs>;
  __shared__ __align__(16) float pixels[2][T::kSlab][T::kPitch];
  __shared__ __align__(16) float weights[2][T::kSlab][kOutputs];
  const int tiles_t = (args.out_t + kPixels - 1) / kPixels;
  const int f_out = static_cast<int>(blockIdx.x) / tiles_t;
  const int t0 = static_cast<int>(blockIdx.x) % tiles_t * kPixels;
  const int cout0 = static_cast<int>(blockIdx.y) * kOutputs, item = static_cast<int>(blockIdx.z);
  const float* input =
      args.input + static_cast<std::size_t>(item) * args.in_f * args.in_t * args.cin;
  const int kernel = strides.taps == 9 ? 3 : 1, pad = kernel / 2;
  const int slabs = args.cin / T::kSlab, steps = slabs * strides.taps;
  const int thread = static_cast<int>(threadIdx.x);

  float4 next_pixels[T::kPixelLoads], next_weights[T::kWeightLoads];
  const auto fetch = [&](int step) {
    const int tap = step / slabs, slab = step % slabs;
    const int f = f_out * strides.f - pad + tap / kernel;
#pragma unroll
    for (int i = 0; i < T::kPixelLoads; ++i) {
      const int index = thread + i * T::kThreads, quad = index % 4;
      const int t = (t0 + index / 4) * strides.t - pad + tap % kernel;
      const bool inside = f >= 0 && f < args.in_f && t >= 0 && t < args.in_t;
      next_pixels[i] = inside
                           ? *reinterpret_cast<const float4*>(
                                 input + (static_cast<std::size_t>(f) * args.in_t + t) * args.cin +
                                 slab * T::kSlab + quad * 4)
                           : make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < T::kWeightLoads; ++i) {
      const int index = thread + i * T::kThreads;
      const int row = index / (kOutputs / 4), column = index % (kOutputs / 4) * 4;
      next_weights[i] = *reinterpret_cast<const float4*>(
          args.weights +
          (static_cast<std::size_t>(tap) * args.cin + slab * T::kSlab + row) * args.cout + cout0 +
          column);
    }
  };
  const auto keep = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < T::kPixelLoads; ++i) {
      const int index = thread + i * T::kThreads, quad = index % 4, pixel = index / 4;
      pixels[buffer][quad * 4 + 0][pixel] = next_pixels[i].x;
      pixels[buffer][quad * 4 + 1][pixel] = next_pixels[i].y;
      pixels[buffer][quad * 4 + 2][pixel] = next_pixels[i].z;
      pixels[buffer][quad * 4 + 3][pixel] = next_pixels[i].w;
    }
#pragma unroll
    for (int i = 0; i < T::kWeightLoads; ++i) {
      const int index = thread + i * T::kThreads;
      *reinterpret_cast<float4*>(
          &weights[buffer][index / (kOutputs / 4)][index % (kOutputs / 4) * 4]) = next_weights[i];
    }
  };

  // Pixels pixel0 .. +3 and pixel0 + kPixels / 2 .. +3; channels column .. +3.
  const int pixel0 = thread / (kOutputs / 4) * 4, column = thread % (kOutputs / 4) * 4;
  float sum[8][4] = {};
  fetch(0);
  keep(0);
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const int buffer = step & 1;
    if (step + 1 < steps) fetch(step + 1);
#pragma unroll
    for (int c = 0; c < T::kSlab; ++c) {
      const float4 a = *reinterpret_cast<const float4*>(&pixels[buffer][c][pixel0]);
      const float4 b = *reinterpret_cast<const float4*>(&pixels[buffer][c][pixel0 + kPixels / 2]);
      const float4 w = *reinterpret_cast<const float4*>(&weights[buffer][c][column]);
      const float x[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
      const float y[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
    }
    // The other buffer was read in the step before, which the barrier has closed.
    if (step + 1 < steps) keep(buffer ^ 1);
    __syncthreads();
  }

  const float4 bias = *reinterpret_cast<const float4*>(args.bias + cout0 + column);
  bool finite = true;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int t = t0 + pixel0 + i % 4 + i / 4 * (kPixels / 2);
    if (t >= args.out_t) continue;
    const std::size_t at =
        ((static_cast<std::size_t>(item) * args.out_f + f_out) * args.out_t + t) * args.cout +
        cout0 + column;
    float4 y =
        make_float4(sum[i][0] + bias.x, sum[i][1] + bias.y, sum[i][2] + bias.z, sum[i][3] + bias.w);
    if (args.residual != nullptr) {
      const float4 r = *reinterpret_cast<const float4*>(args.residual + at);
      y = make_float4(y.x + r.x, y.y + r.y, y.z + r.z, y.w + r.w);
    }
    // Before the ReLU, which would turn NaN and minus infinity into zero.
    finite = finite && is_finite(y.x) && is_finite(y.y) && is_finite(y.z) && is_finite(y.w);
    if (args.relu)
      y = make_float4(fmaxf(y.x, 0.0F), fmaxf(y.y, 0.0F), fmaxf(y.z, 0.0F), fmaxf(y.w, 0.0F));
    *reinterpret_cast<float4*>(args.output + at) = y;
  }
  if (!finite && args.range != nullptr) args.range[item] = 1;
}

template <int kPixels, int kOutputs>
cudaError_t launch(const ConvShape& shape, const ConvFfmaArgs& args, cudaStream_t stream) {
  const int tiles = (args.out_t + kPixels - 1) / kPixels * args.out_f;
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(args.cout / kOutputs),
                  static_cast<unsigned>(args.items));
  conv_ffma<kPixels, kOutputs><<<grid, FfmaTile<kPixels, kOutputs>::kThreads, 0, stream>>>(
      args, {shape.taps, shape.stride_f, shape.stride_t});
  return cudaGetLastError();
}

constexpr int kBands = 80, kStemChannels = 32, kStemSteps = 16, kStemThreads = 256;

// A CTA makes all bands of kStemSteps time steps; eight threads share a pixel.
__global__ void __launch_bounds__(kStemThreads) stem_ffma(StemFfmaArgs args) {
  __shared__ float features[kBands + 2][kStemSteps + 3];
  __shared__ __align__(16) float weights[9][kStemChannels];
  __shared__ __align__(16) float bias[kStemChannels];
  const int item = static_cast<int>(blockIdx.y), t0 = static_cast<int>(blockIdx.x) * kStemSteps;
  const float* rows = args.rows + item * args.item_stride;
  const float* means = args.means + item * kBands;
  for (int i = static_cast<int>(threadIdx.x); i < (kBands + 2) * (kStemSteps + 2);
       i += kStemThreads) {
    const int band = i % (kBands + 2) - 1, step = i / (kBands + 2), t = t0 + step - 1;
    const bool inside = band >= 0 && band < kBands && t >= 0 && t < args.time;
    features[band + 1][step] = inside ? rows[t * kBands + band] - means[band] : 0.0F;
  }
  for (int i = static_cast<int>(threadIdx.x); i < 9 * kStemChannels; i += kStemThreads)
    weights[i / kStemChannels][i % kStemChannels] = args.weights[i];
  if (threadIdx.x < kStemChannels) bias[threadIdx.x] = args.bias[threadIdx.x];
  __syncthreads();
  bool finite = true;
  for (int i = static_cast<int>(threadIdx.x); i < kBands * kStemSteps * 8; i += kStemThreads) {
    const int channel = (i & 7) * 4, step = (i >> 3) % kStemSteps, band = (i >> 3) / kStemSteps;
    if (t0 + step >= args.time) continue;
    float4 y = *reinterpret_cast<const float4*>(&bias[channel]);
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
      const float x = features[band + tap / 3][step + tap % 3];
      const float4 w = *reinterpret_cast<const float4*>(&weights[tap][channel]);
      y = make_float4(fmaf(x, w.x, y.x), fmaf(x, w.y, y.y), fmaf(x, w.z, y.z), fmaf(x, w.w, y.w));
    }
    finite = finite && is_finite(y.x) && is_finite(y.y) && is_finite(y.z) && is_finite(y.w);
    *reinterpret_cast<float4*>(
        args.output +
        ((static_cast<std::size_t>(item) * kBands + band) * args.time + t0 + step) * kStemChannels +
        channel) =
        make_float4(fmaxf(y.x, 0.0F), fmaxf(y.y, 0.0F), fmaxf(y.z, 0.0F), fmaxf(y.w, 0.0F));
  }
  if (!finite && args.range != nullptr) args.range[item] = 1;
}

constexpr int kPoolTime = 512, kPoolSpeakers = 4;

// One CTA per (item, frequency), one thread per channel; the column is read once per pass.
__global__ void masked_pool_ffma(PoolFfmaArgs args) {
  __shared__ float weights[kPoolSpeakers][kPoolTime];
  __shared__ float totals[kPoolSpeakers][2];  // sum of weights + 1e-8, sum of squares
  const int item = static_cast<int>(blockIdx.y), f = static_cast<int>(blockIdx.x);
  const float* masks = args.masks + item * args.mask_stride;
  for (int i = static_cast<int>(threadIdx.x); i < args.speakers * args.time;
       i += static_cast<int>(blockDim.x)) {
    const int speaker = i / args.time, t = i % args.time;
    weights[speaker][t] = masks[speaker * args.mask_frames + t * args.mask_frames / args.time];
  }
  __syncthreads();
  const int channel = static_cast<int>(threadIdx.x);
  if (channel < args.speakers) {
    float sum = 0, squares = 0;
    for (int t = 0; t < args.time; ++t) {
      const float w = weights[channel][t];
      sum += w;
      squares += w * w;
    }
    totals[channel][0] = sum + 1e-8F;
    totals[channel][1] = squares;
  }
  __syncthreads();
  const float* column =
      args.map + (static_cast<std::size_t>(item) * args.frequency + f) * args.time * args.channels +
      channel;
  float largest = 0;
  for (int t = 0; t < args.time; ++t)
    largest = fmaxf(largest, fabsf(column[static_cast<std::size_t>(t) * args.channels]));
  // A power of two, so nothing is rounded by it; small rows stay as they are.
  const float up = largest > 1099511627776.0F ? ldexpf(1.0F, ilogbf(fminf(largest, 1e38F))) : 1.0F;
  const float down = 1 / up;
  const int rows = args.channels * args.frequency;
  bool finite = true;
  for (int speaker = 0; speaker < args.speakers; ++speaker) {
    const float v1 = totals[speaker][0], v2 = totals[speaker][1];
    float mean = 0;
    for (int t = 0; t < args.time; ++t)
      mean = fmaf(weights[speaker][t], column[static_cast<std::size_t>(t) * args.channels] * down,
                  mean);
    mean /= v1;
    float variance = 0;
    for (int t = 0; t < args.time; ++t) {
      const float difference = column[static_cast<std::size_t>(t) * args.channels] * down - mean;
      variance = fmaf(weights[speaker][t] * difference, difference, variance);
    }
    variance /= v1 - v2 / v1 + 1e-8F;
    float* out = args.statistics +
                 (static_cast<std::size_t>(item) * args.speakers + speaker) * 2 * rows +
                 channel * args.frequency + f;
    out[0] = mean * up;
    out[rows] = sqrtf(variance) * up;
    finite = finite && is_finite(out[0]) && is_finite(out[rows]);
  }
  if (!finite && args.range != nullptr) args.range[item] = 1;
}

__global__ void map_tap_ffma(TapFfmaArgs args) {
  const int item = static_cast<int>(blockIdx.z), channel = static_cast<int>(blockIdx.y);
  const int pixel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int pixels = args.frequency * args.time;
  if (pixel >= pixels) return;
  args.output[item * args.item_stride + static_cast<std::int64_t>(channel) * pixels + pixel] =
      args.map[(static_cast<std::size_t>(item) * pixels + pixel) * args.channels + channel];
}

}  // namespace

std::vector<float> pack_ffma_weights(const float* weight, int cout, int cin, int taps) {
  std::vector<float> packed(static_cast<std::size_t>(cout) * static_cast<std::size_t>(cin * taps));
  std::size_t at = 0;
  for (int tap = 0; tap < taps; ++tap)
    for (int c = 0; c < cin; ++c)
      for (int o = 0; o < cout; ++o)
        packed[at++] = weight[(static_cast<std::size_t>(o) * static_cast<std::size_t>(cin) +
                               static_cast<std::size_t>(c)) *
                                  static_cast<std::size_t>(taps) +
                              static_cast<std::size_t>(tap)];
  return packed;
}

cudaError_t launch_conv_ffma(const ConvShape& shape, const ConvFfmaArgs& args,
                             cudaStream_t stream) {
  if ((shape.taps != 9 && shape.taps != 1) || args.cin % 16 != 0 || args.cout % 32 != 0 ||
      args.items > 65535)
    return cudaErrorNotSupported;
  if (args.cout % 64 == 0) return launch<64, 64>(shape, args, stream);
  return launch<128, 32>(shape, args, stream);
}

cudaError_t launch_stem_ffma(const StemFfmaArgs& args, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((args.time + kStemSteps - 1) / kStemSteps),
                  static_cast<unsigned>(args.items));
  stem_ffma<<<grid, kStemThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_masked_pool_ffma(const PoolFfmaArgs& args, cudaStream_t stream) {
  if (args.channels % 32 != 0 || args.channels > 1024 || args.time > kPoolTime ||
      args.speakers > kPoolSpeakers)
    return cudaErrorNotSupported;
  const dim3 grid(static_cast<unsigned>(args.frequency), static_cast<unsigned>(args.items));
  masked_pool_ffma<<<grid, static_cast<unsigned>(args.channels), 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_map_tap_ffma(const TapFfmaArgs& args, cudaStream_t stream) {
  const int pixels = args.frequency * args.time;
  const dim3 grid(static_cast<unsigned>((pixels + 255) / 256), static_cast<unsigned>(args.channels),
                  static_cast<unsigned>(args.items));
  map_tap_ffma<<<grid, 256, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
