// 3x3 convolution of 32 to 32 channels by implicit products of m16n8k16.
//
// A CTA of five warps makes tiles of 10 frequencies x 32 rows of time: the input tile with its halo
// lies in shared memory (21 or 12 frequencies x 34 pixels of 64 bytes), so do all weights. A warp
// makes two frequencies x 32 pixels: it reads the input row by row, and each row serves every
// output row that it touches. Persistent over tiles; two or three CTAs per multiprocessor hide each
// other's loading. With a stem, the input tile is not loaded but made: 16 pixels of one frequency
// are one product of depth 16 (nine taps) with the features around them.
// Exact mode: pixels and weights are high and low halves, products high x high, high x low, low x
// high. Pixels outside the map, and of rows that belong to no item, are zero.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/campplus/gather.hpp"
#include "backend/cuda/kernels/campplus/halves.cuh"
#include "backend/cuda/kernels/campplus/map_conv.hpp"

namespace diarist::backend::cuda::campplus {
namespace {

constexpr int kChannels = 32;
constexpr int kRows = 10, kStrip = 32, kWarps = 5, kThreads = kWarps * 32;
constexpr int kColumns = kStrip + 2;
constexpr int kTapBytes = kChannels * kChannels * 2;
constexpr int kFeatureColumns = 48;  // of a tile, from 8 before its first pixel

template <int kStride_, bool kExact_, bool kStem_, bool kShortcut_>
struct MapTraits {
  static constexpr int kStride = kStride_;
  static constexpr bool kExact = kExact_, kStem = kStem_, kShortcut = kShortcut_;
  static constexpr int kParts = kExact ? 2 : 1;
  static constexpr int kPixel = kChannels * 2 * kParts;  // bytes
  static constexpr int kInRows = (kRows - 1) * kStride + 3;
  static constexpr int kRowBytes = kColumns * kPixel;
  static constexpr int kTileBytes = kInRows * kRowBytes;
  static constexpr int kConvBytes = 9 * kTapBytes * kParts;
  static constexpr int kShortcutBytes = kShortcut ? kTapBytes * kParts : 0;
  static constexpr int kFeatureRows = kInRows + 2;
  static constexpr int kFeatureBytes = kStem ? kParts * kFeatureRows * kFeatureColumns * 2 : 0;
  static constexpr int kShared = kTileBytes + kConvBytes + kShortcutBytes + kFeatureBytes;
  static constexpr int kBlocks = kExact ? 1 : 3;  // per multiprocessor
};

/// Byte offset of a 16-byte piece of a pixel within its row.
template <typename T>
__device__ __forceinline__ std::uint32_t pixel_piece(int column, int piece) {
  const int key = T::kExact ? column & 7 : (column >> 1) & 3;
  return static_cast<std::uint32_t>(column * T::kPixel + ((piece ^ key) << 4));
}

/// The same in weights: rows of 64 bytes.
__device__ __forceinline__ std::uint32_t weight_piece(int row, int piece) {
  return static_cast<std::uint32_t>(row * 64 + ((piece ^ ((row >> 1) & 3)) << 4));
}

__device__ __forceinline__ void load_weights(std::uint32_t target, const void* source, int bytes) {
  for (int i = static_cast<int>(threadIdx.x); i < bytes / 16; i += kThreads)
    copy_16(target + weight_piece(i / 4, i % 4), static_cast<const uint4*>(source) + i, true);
}

/// Pixels (first_f .., time0 - 1 ..) of the input.
template <typename T>
__device__ __forceinline__ void load_tile(const MapConvArgs& args, int first_f, int time0,
                                          std::uint32_t tile) {
  constexpr int kPieces = T::kPixel / 16;
  const int piece = static_cast<int>(threadIdx.x) % kPieces;
  for (int pixel = static_cast<int>(threadIdx.x) / kPieces; pixel < T::kInRows * kColumns;
       pixel += kThreads / kPieces) {
    const int row = pixel / kColumns, column = pixel % kColumns;
    const int f = first_f + row, t = time0 - 1 + column;
    const bool inside = static_cast<unsigned>(f) < static_cast<unsigned>(args.in_frequency) &&
                        static_cast<unsigned>(t) < static_cast<unsigned>(args.time);
    const std::size_t at =
        inside ? static_cast<std::size_t>(f) * static_cast<std::size_t>(args.in_pitch) +
                     static_cast<std::size_t>(t)
               : 0;
    copy_16(tile + row * T::kRowBytes + pixel_piece<T>(column, piece),
            args.input + at * (T::kPixel / 2) + piece * 8, inside);
  }
}

template <typename T>
__device__ __forceinline__ void load_features(const MapConvArgs& args, int first_f, int time0,
                                              std::uint32_t target) {
  constexpr int kPieces = kFeatureColumns / 8;
  for (int i = static_cast<int>(threadIdx.x); i < T::kParts * T::kFeatureRows * kPieces;
       i += kThreads) {
    const int piece = i % kPieces, row = i / kPieces % T::kFeatureRows;
    const int f = first_f - 1 + row;
    const bool inside = static_cast<unsigned>(f) < static_cast<unsigned>(kBands);
    const __half* const plane = i < T::kFeatureRows * kPieces ? args.planes : args.low_planes;
    // Column 0 of the tile is row time0 - 8 of the map, column time0 of the plane.
    copy_16(
        target + i * 16,
        plane +
            static_cast<std::size_t>(inside ? f : 0) * static_cast<std::size_t>(args.plane_pitch) +
            time0 + piece * 8,
        inside);
  }
}

/// The A fragment of 16 pixels: this lane's taps of two of them.
__device__ __forceinline__ void gather_taps(const __half* first, const __half* second,
                                            const int (&taps)[3], std::uint32_t (&a)[4]) {
  a[0] = pair_of(first[taps[0]], first[taps[1]]);
  a[1] = pair_of(second[taps[0]], second[taps[1]]);
  a[2] = pair_of(first[taps[2]], __half());
  a[3] = pair_of(second[taps[2]], __half());
}

/// Makes the input tile out of the features of kFeatureRows x 48 around it.
template <typename T>
__device__ __forceinline__ void make_stem(const MapConvArgs& args, int first_f, int time0,
                                          const __half* features, std::uint32_t tile) {
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const int quad = lane & 3;
  uint2 weights[T::kParts][4];
#pragma unroll
  for (int part = 0; part < T::kParts; ++part)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      weights[part][j] =
          __ldg(static_cast<const uint2*>(args.stem.weights) + (part * 4 + j) * 32 + lane);
  const float4 bias_0 = __ldg(reinterpret_cast<const float4*>(args.stem.bias) + 2 * quad);
  const float4 bias_1 = __ldg(reinterpret_cast<const float4*>(args.stem.bias) + 2 * quad + 1);
  const float bias[8] = {bias_0.x, bias_0.y, bias_0.z, bias_0.w,
                         bias_1.x, bias_1.y, bias_1.z, bias_1.w};
  int taps[3];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const int tap = i == 2 ? 8 : 2 * quad + i;
    taps[i] = tap / 3 * kFeatureColumns + tap % 3 + 6;
  }
  constexpr int kPixels = T::kInRows * kColumns;
  constexpr int kPlane = T::kFeatureRows * kFeatureColumns;
#pragma unroll 1
  for (int p0 = warp * 16; p0 < kPixels; p0 += kWarps * 16) {
    int row[2], column[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int p = min(p0 + 8 * h + (lane >> 2), kPixels - 1);
      row[h] = p / kColumns;
      column[h] = p % kColumns;
    }
    const __half* const first = features + row[0] * kFeatureColumns + column[0];
    const __half* const second = features + row[1] * kFeatureColumns + column[1];
    std::uint32_t a[T::kParts][4];
#pragma unroll
    for (int part = 0; part < T::kParts; ++part)
      gather_taps(first + part * kPlane, second + part * kPlane, taps, a[part]);
    float sum[4][4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[j][i] = 0;
      multiply_add(sum[j], a[0], weights[0][j].x, weights[0][j].y);
      if constexpr (T::kExact) {
        multiply_add(sum[j], a[1], weights[0][j].x, weights[0][j].y);
        multiply_add(sum[j], a[0], weights[1][j].x, weights[1][j].y);
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int f = first_f + row[h], t = time0 - 1 + column[h];
      int owner = -1;
      if (static_cast<unsigned>(f) < static_cast<unsigned>(kBands) &&
          static_cast<unsigned>(t) < static_cast<unsigned>(args.time))
        owner = __ldg(args.row_items + t);
      float x[8];
#pragma unroll
      for (int c = 0; c < 8; ++c)
        x[c] = fmaf(sum[c / 2][2 * h + c % 2], args.stem.unscale, bias[c]);
      PixelHalves<T::kParts> pixel(x, true);
      if (owner >= 0 && pixel.overflowed()) args.range[owner] = 1;
      if (owner < 0) pixel.clear();
      if (p0 + 8 * h + (lane >> 2) >= kPixels) continue;
#pragma unroll
      for (int part = 0; part < T::kParts; ++part)
        store_shared_16(tile + row[h] * T::kRowBytes + pixel_piece<T>(column[h], quad + 4 * part),
                        pixel.words[part]);
    }
  }
}

/// Four B fragments (32 output channels) of one tap, 16 input channels deep.
__device__ __forceinline__ void load_taps(std::uint32_t address, std::uint32_t (&b)[4][2]) {
  std::uint32_t r[4];
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    load_matrices(address + n * 16 * 64, r);
    b[2 * n][0] = r[0];
    b[2 * n][1] = r[1];
    b[2 * n + 1][0] = r[2];
    b[2 * n + 1][1] = r[3];
  }
}

using Sums = float[2][2][4][4];  // output row, 16 pixels, 8 channels, accumulators

/// sum += the three taps of frequency at one tap of time, over 16 channels of one part of the
/// pixels, times kWeightParts parts of the weights.
template <typename T, int kWeightParts>
__device__ __forceinline__ void multiply_column(Sums& sum, std::uint32_t pixels,
                                                std::uint32_t weights) {
  std::uint32_t b[kWeightParts][3][4][2];
#pragma unroll
  for (int part = 0; part < kWeightParts; ++part)
#pragma unroll
    for (int tap = 0; tap < 3; ++tap)
      load_taps(weights + part * 9 * kTapBytes + tap * 3 * kTapBytes, b[part][tap]);
#pragma unroll
  for (int row = 0; row < T::kStride + 3; ++row) {
    std::uint32_t a[2][4];
#pragma unroll
    for (int m = 0; m < 2; ++m)
      load_matrices(pixels + row * T::kRowBytes + m * 16 * T::kPixel, a[m]);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int tap = row - r * T::kStride;
      if (tap < 0 || tap > 2) continue;
#pragma unroll
      for (int part = 0; part < kWeightParts; ++part)
#pragma unroll
        for (int m = 0; m < 2; ++m)
#pragma unroll
          for (int n = 0; n < 4; ++n)
            multiply_add(sum[r][m][n], a[m], b[part][tap][n][0], b[part][tap][n][1]);
    }
  }
}

/// sum = the centre pixels times a 1x1 weight.
template <typename T>
__device__ __forceinline__ void multiply_centre(Sums& sum, std::uint32_t pixels,
                                                std::uint32_t weights, int lane_piece) {
#pragma unroll
  for (int k = 0; k < 2; ++k)
#pragma unroll
    for (int part = 0; part < T::kParts; ++part) {
      const int column = (static_cast<int>(threadIdx.x) & 15) + 1;
      const std::uint32_t from =
          pixels + T::kRowBytes + pixel_piece<T>(column, 4 * part + 2 * k + lane_piece);
      std::uint32_t b[2][4][2];
#pragma unroll
      for (int w = 0; w < T::kParts - part; ++w)
        load_taps((weights ^ (k * 32)) + w * kTapBytes, b[w]);
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          std::uint32_t a[4];
          load_matrices(from + r * T::kStride * T::kRowBytes + m * 16 * T::kPixel, a);
#pragma unroll
          for (int w = 0; w < T::kParts - part; ++w)
#pragma unroll
            for (int n = 0; n < 4; ++n) multiply_add(sum[r][m][n], a, b[w][n][0], b[w][n][1]);
        }
    }
}

/// sum * unscale + bias (+ residual, ReLU) as halves.
template <typename T>
__device__ __forceinline__ void write_tile(const MapConvArgs& args, const Sums& sum,
                                           const PackedProduct& product, bool last, int f0,
                                           int time0, const __half* residual, __half* output) {
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const int quad = lane & 3;
  const float4 bias_0 = __ldg(reinterpret_cast<const float4*>(product.bias) + 2 * quad);
  const float4 bias_1 = __ldg(reinterpret_cast<const float4*>(product.bias) + 2 * quad + 1);
  const float bias[8] = {bias_0.x, bias_0.y, bias_0.z, bias_0.w,
                         bias_1.x, bias_1.y, bias_1.z, bias_1.w};
#pragma unroll
  for (int m = 0; m < 2; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int t = time0 + 16 * m + 8 * h + (lane >> 2);
      if (t >= args.time) continue;
      const int owner = __ldg(args.row_items + t);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int f = f0 + 2 * warp + r;
        if (f >= args.out_frequency) continue;
        const std::size_t at =
            (static_cast<std::size_t>(f) * static_cast<std::size_t>(args.out_pitch) +
             static_cast<std::size_t>(t)) *
                (T::kPixel / 2) +
            static_cast<std::size_t>(8 * quad);
        float x[8];
#pragma unroll
        for (int c = 0; c < 8; ++c)
          x[c] = fmaf(sum[r][m][c / 2][2 * h + c % 2], product.unscale, bias[c]);
        if (residual != nullptr)
#pragma unroll
          for (int part = 0; part < T::kParts; ++part)
            add_halves(x, *reinterpret_cast<const uint4*>(residual + at + part * kChannels));
        PixelHalves<T::kParts> pixel(x, last);
        if (owner >= 0 && pixel.overflowed()) args.range[owner] = 1;
        if (owner < 0) pixel.clear();
#pragma unroll
        for (int part = 0; part < T::kParts; ++part)
          *reinterpret_cast<uint4*>(output + at + part * kChannels) =
              make_uint4(pixel.words[part][0], pixel.words[part][1], pixel.words[part][2],
                         pixel.words[part][3]);
      }
    }
}

template <typename T>
__global__ void __launch_bounds__(kThreads, T::kBlocks) map_conv(MapConvArgs args, int works) {
  extern __shared__ __align__(128) std::uint8_t shared[];
  const std::uint32_t tile = shared_address(shared), weights = tile + T::kTileBytes;
  const std::uint32_t side = weights + T::kConvBytes, features = side + T::kShortcutBytes;
  const __half* const feature_tile =
      reinterpret_cast<const __half*>(shared + T::kTileBytes + T::kConvBytes + T::kShortcutBytes);
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  load_weights(weights, args.conv.weights, T::kConvBytes);
  if constexpr (T::kShortcut) load_weights(side, args.shortcut.weights, T::kShortcutBytes);
  const int blocks_f = (args.out_frequency + kRows - 1) / kRows;
  const int piece_a = lane >> 4;
  const std::uint32_t pixels =
      tile + static_cast<std::uint32_t>(2 * warp * T::kStride * T::kRowBytes);
  const std::uint32_t lane_b = weight_piece((lane & 7) + ((lane >> 4) << 3), (lane >> 3) & 1);
  for (int work = static_cast<int>(blockIdx.x); work < works; work += static_cast<int>(gridDim.x)) {
    const int f0 = work % blocks_f * kRows, time0 = work / blocks_f * kStrip;
    const int first_f = f0 * T::kStride - 1;
    __syncthreads();  // the last tile has been read
    if constexpr (T::kStem) {
      load_features<T>(args, first_f, time0, features);
      commit_copies();
      wait_copies<0>();
      __syncthreads();
      make_stem<T>(args, first_f, time0, feature_tile, tile);
    } else {
      load_tile<T>(args, first_f, time0, tile);
      commit_copies();
      wait_copies<0>();
    }
    __syncthreads();
    Sums sum = {};
#pragma unroll 1
    for (int tap = 0; tap < 3; ++tap) {
      const int column = (lane & 15) + tap;
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const std::uint32_t from = (weights + lane_b + tap * kTapBytes) ^ (k * 32);
        multiply_column<T, T::kParts>(sum, pixels + pixel_piece<T>(column, 2 * k + piece_a), from);
        if constexpr (T::kExact)
          multiply_column<T, 1>(sum, pixels + pixel_piece<T>(column, 4 + 2 * k + piece_a), from);
      }
    }
    write_tile<T>(args, sum, args.conv, true, f0, time0, args.residual, args.output);
    if constexpr (T::kShortcut) {
      Sums beside = {};
      multiply_centre<T>(beside, pixels, side + lane_b, piece_a);
      write_tile<T>(args, beside, args.shortcut, false, f0, time0, nullptr, args.beside);
    }
  }
}

template <typename T>
cudaError_t launch(const MapConvArgs& args, cudaStream_t stream) {
  const int works = (args.out_frequency + kRows - 1) / kRows * ((args.time + kStrip - 1) / kStrip);
  const int resident = args.multiprocessors * T::kBlocks;
  map_conv<T><<<static_cast<unsigned>(works < resident ? works : resident), kThreads, T::kShared,
                stream>>>(args, works);
  return cudaGetLastError();
}

template <typename T>
cudaError_t prepare() {
  return cudaFuncSetAttribute(map_conv<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, T::kShared);
}

template <bool kExact>
using FirstConv = MapTraits<2, kExact, true, true>;
template <bool kExact>
using DownConv = MapTraits<2, kExact, false, true>;
template <bool kExact>
using LastConv = MapTraits<2, kExact, false, false>;
template <bool kExact>
using EvenConv = MapTraits<1, kExact, false, false>;

template <bool kExact>
cudaError_t launch_mode(const MapConvArgs& args, cudaStream_t stream) {
  if (args.stride == 1) return launch<EvenConv<kExact>>(args, stream);
  if (args.planes != nullptr) return launch<FirstConv<kExact>>(args, stream);
  return args.beside != nullptr ? launch<DownConv<kExact>>(args, stream)
                                : launch<LastConv<kExact>>(args, stream);
}

template <bool kExact>
cudaError_t prepare_mode() {
  for (const cudaError_t error : {prepare<FirstConv<kExact>>(), prepare<DownConv<kExact>>(),
                                  prepare<LastConv<kExact>>(), prepare<EvenConv<kExact>>()})
    if (error != cudaSuccess) return error;
  return cudaSuccess;
}

}  // namespace

cudaError_t launch_map_conv(const MapConvArgs& args, cudaStream_t stream) {
  return args.exact ? launch_mode<true>(args, stream) : launch_mode<false>(args, stream);
}

cudaError_t prepare_map_conv(bool exact) {
  return exact ? prepare_mode<true>() : prepare_mode<false>();
}

}  // namespace diarist::backend::cuda::campplus
