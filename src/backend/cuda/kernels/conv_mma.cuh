#pragma once
// Convolution with a halo tile in shared memory and warp-level tensor-core products: the portable
// family (sm_75 and later).
//
// A persistent grid: every CTA takes one tile of output pixels times output channels after another
// (conv_mma_tiles.hpp), and what the next tile needs is on its way while the present one is summed
// and written. Per slab of input channels the halo tile (all pixels that the taps touch) is loaded
// once and serves every tap. The weights of one time tap (its three frequency taps) make a stage of
// a ring; or all of them stay in shared memory.
//
// * Rows of a warp lie below each other, so one fragment of an input row serves three output rows:
//   per time tap a warp reads rows + 2 fragments of pixels, not 3 x rows.
// * Shared memory holds rows of 64 bytes, 16-byte pieces swizzled by the column, so that ldmatrix
//   meets no bank conflict. For stride 2 even and odd columns lie apart.
// * Output channels are permuted within groups of 32 when the weights are packed, so that a
// thread's
//   sums are eight neighbouring channels: the epilogue reads and writes 16 bytes at a time.
// * Exact mode: a slab is 16 high and 16 low parts; high x high, high x low and low x high go into
//   the same sum, which has FP32 accuracy.

#include <cmath>

#include "backend/cuda/kernels/conv_args.hpp"
#include "backend/cuda/kernels/conv_mma_tiles.hpp"
#include "backend/cuda/kernels/mma.cuh"

namespace diarist::backend::cuda {

template <int kIndex, bool kSplit_>
struct ConvTraits {
  static constexpr ConvMmaTile kTile = kConvMmaTiles[kIndex];
  static constexpr bool kSplit = kSplit_, kResident = kTile.resident;
  static constexpr int kParts = kSplit ? 2 : 1;
  static constexpr int kSlab = kSplit ? 16 : 32;  // input channels
  static constexpr int kThreads = kTile.threads(), kMinBlocks = kTile.min_blocks;
  static constexpr int kCout = kTile.cout, kWarpN = kTile.warp_cout;
  static constexpr int kRows = kTile.rows, kTileF = kTile.tile_rows(), kTileT = kTile.columns();
  static constexpr int kStep = kTile.step(), kKernel = kTile.kernel();
  static constexpr int kHaloF = kTile.halo_rows(), kHaloT = kTile.halo_columns();
  static constexpr int kPixelBytes = ConvMmaTile::kPixelBytes;
  static constexpr int kRowBytes = kTile.pitch() * kPixelBytes;
  static constexpr int kTileBytes = kTile.tile_bytes(), kStageBytes = kTile.stage_bytes();
  static constexpr int kTiles = kTile.tile_buffers(), kStages = kTile.stages;
  /// Barriers per slab, and how many of these steps the loads run ahead.
  static constexpr int kSteps = kResident ? 1 : kKernel;
  static constexpr int kAhead = kResident ? 1 : kStages - 1;
  static constexpr int kARows = (kRows - 1) * kStep + kKernel;  // input rows of a warp
  static constexpr int kNTiles = kWarpN / 8;
  static_assert(kSteps == 1 ? kTiles > kAhead : kAhead <= kSteps);
};

/// Byte offset of a 16-byte piece of the pixel (or weight row) in a column.
__device__ __forceinline__ int piece_offset(int column, int piece) {
  return column * ConvMmaTile::kPixelBytes + ((piece ^ ((column >> 1) & 3)) << 4);
}

/// Where the work of one CTA lies. Output channels go first, so that CTAs side by side read the
/// same pixels.
struct ConvPlace {
  int item, f0, t0, cout0;
};

template <typename T>
__device__ __forceinline__ ConvPlace conv_place(const ConvArgs& args, int work) {
  const int blocks = args.cout / T::kCout;
  const int tiles_t = (args.out_t + T::kTileT - 1) / T::kTileT;
  const int tiles_f = (args.out_f + T::kTileF - 1) / T::kTileF;
  ConvPlace place;
  place.cout0 = work % blocks * T::kCout;
  work /= blocks;
  place.t0 = work % tiles_t * T::kTileT;
  work /= tiles_t;
  place.f0 = work % tiles_f * T::kTileF;
  place.item = work / tiles_f;
  return place;
}

template <typename T>
__device__ __forceinline__ void load_tile(const ConvArgs& args, const ConvPlace& place, int slab,
                                          std::uint32_t target) {
  const int channels = args.cin * T::kParts;
  const __half* input =
      args.input + static_cast<std::size_t>(place.item) * args.in_f * args.in_t * channels;
  constexpr int kLoadStride = T::kKernel == 3 ? 1 : T::kTile.stride, kPad = T::kKernel / 2;
  const int f0 = place.f0 * T::kTile.stride - kPad, t0 = place.t0 * T::kTile.stride - kPad;
  // Neighbouring threads take the four pieces of a pixel, so a thread's piece stays the same.
  const int piece = static_cast<int>(threadIdx.x) & 3;
  const int channel =
      T::kSplit ? slab * 16 + (piece & 1) * 8 + (piece >> 1) * args.cin : slab * 32 + piece * 8;
#pragma unroll 2
  for (int pixel = static_cast<int>(threadIdx.x) >> 2; pixel < T::kHaloF * T::kHaloT;
       pixel += T::kThreads / 4) {
    const int row = pixel / T::kHaloT, column = pixel % T::kHaloT;
    const int f = f0 + row * kLoadStride, t = t0 + column * kLoadStride;
    const bool inside = static_cast<unsigned>(f) < static_cast<unsigned>(args.in_f) &&
                        static_cast<unsigned>(t) < static_cast<unsigned>(args.in_t);
    const int offset = inside ? (f * args.in_t + t) * channels + channel : 0;
    const int slot = T::kStep == 2 ? (column >> 1) + (column & 1) * (T::kTileT + 1) : column;
    copy_16(target + row * T::kRowBytes + piece_offset(slot, piece), input + offset, inside);
  }
}

/// Weights of one stage: [frequency tap][cout of the CTA][64 bytes].
template <typename T>
__device__ __forceinline__ void load_stage(const ConvArgs& args, int cout0, int stage,
                                           std::uint32_t target) {
  const __half* source =
      args.weights + static_cast<std::size_t>(stage) * T::kKernel * args.cout * 32;
  const int piece = static_cast<int>(threadIdx.x) & 3;
#pragma unroll 2
  for (int row = static_cast<int>(threadIdx.x) >> 2; row < T::kKernel * T::kCout;
       row += T::kThreads / 4) {
    const int tap = row / T::kCout, channel = row % T::kCout;
    copy_16(target + piece_offset(row, piece),
            source + (tap * args.cout + cout0 + channel) * 32 + piece * 8, true);
  }
}

/// sum += pixels x weights over 16 channels and the frequency taps. `kSecond`: the weights' low
/// parts as well.
template <typename T, bool kSecond>
__device__ __forceinline__ void multiply_taps(float (&sum)[T::kRows][T::kNTiles][4],
                                              std::uint32_t pixels, std::uint32_t weights) {
  std::uint32_t a[T::kARows][4];
#pragma unroll
  for (int r = 0; r < T::kARows; ++r) load_matrices(pixels + r * T::kRowBytes, a[r]);
#pragma unroll
  for (int n = 0; n < T::kNTiles; n += 2)
#pragma unroll
    for (int tap = 0; tap < T::kKernel; ++tap)
#pragma unroll
      for (int part = 0; part < (kSecond ? 2 : 1); ++part) {
        std::uint32_t b[4];
        // The second 32 bytes of a row: pieces differ in bit 1, addresses in bit 5.
        load_matrices(
            (part == 0 ? weights : weights ^ 32U) + (tap * T::kCout + n * 8) * T::kPixelBytes, b);
#pragma unroll
        for (int r = 0; r < T::kRows; ++r) {
          multiply_add(sum[r][n], a[r * T::kStep + tap], b[0], b[1]);
          multiply_add(sum[r][n + 1], a[r * T::kStep + tap], b[2], b[3]);
        }
      }
}

/// Adds one time tap. `pixels`: this lane's row of the warp's first fragment.
template <typename T>
__device__ __forceinline__ void add_time_tap(float (&sum)[T::kRows][T::kNTiles][4],
                                             std::uint32_t pixels, std::uint32_t weights) {
  if constexpr (T::kSplit) {
    multiply_taps<T, true>(sum, pixels, weights);
    multiply_taps<T, false>(sum, pixels ^ 32U, weights);
  } else {
    multiply_taps<T, false>(sum, pixels, weights);
    multiply_taps<T, false>(sum, pixels ^ 32U, weights ^ 32U);
  }
}

/// x += eight neighbouring channels of a pixel, packed halves.
__device__ __forceinline__ void add_halves(float (&x)[8], const uint4& bits) {
  const std::uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = unpacked_halves(words[i]);
    x[2 * i] += pair.x;
    x[2 * i + 1] += pair.y;
  }
}

/// Rounds eight values to halves, clamped to their range, and leaves in x what was lost.
__device__ __forceinline__ void store_halves(float (&x)[8], __half* target, bool keep_rest,
                                             RangeWatch& watch) {
  std::uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    words[i] = packed_halves(x[2 * i], x[2 * i + 1]);
    watch.see(words[i]);
    words[i] = clamped_halves(words[i]);
    if (keep_rest) {
      const float2 pair = unpacked_halves(words[i]);
      x[2 * i] -= pair.x;
      x[2 * i + 1] -= pair.y;
    }
  }
  *reinterpret_cast<uint4*>(target) = make_uint4(words[0], words[1], words[2], words[3]);
}

/// Where a lane's sums belong in the output map (and in the residual).
template <typename T>
struct ConvCorner {
  __device__ __forceinline__ ConvCorner(const ConvArgs& args, int work) {
    // Hides from the compiler that this is computed twice: a few divisions are cheaper than eight
    // registers during the products.
    asm volatile("" : "+r"(work));
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const ConvPlace place = conv_place<T>(args, work);
    const int f = place.f0 + warp / T::kTile.warps_t % T::kTile.warps_f * T::kRows;
    const int t = place.t0 + warp % T::kTile.warps_t * 16 + (lane >> 2);
    item = place.item;
    channel =
        place.cout0 + warp / (T::kTile.warps_t * T::kTile.warps_f) * T::kWarpN + (lane & 3) * 8;
    rows = args.out_f - f;
    columns = args.out_t - t;
    pitch_t = args.cout * T::kParts;
    pitch_f = args.out_t * pitch_t;
    first = (static_cast<std::size_t>(item) * static_cast<std::size_t>(args.out_f * args.out_t) +
             static_cast<std::size_t>(f * args.out_t + t)) *
                static_cast<std::size_t>(pitch_t) +
            static_cast<std::size_t>(channel);
  }
  __device__ __forceinline__ bool inside(int r, int half_tile) const {
    return r < rows && half_tile * 8 < columns;
  }
  /// Elements behind `first`.
  __device__ __forceinline__ int at(int r, int half_tile) const {
    return r * pitch_f + half_tile * 8 * pitch_t;
  }

  int item, channel;     // channel: of the lane's first sum
  int rows, columns;     // left inside the map, from the lane's first pixel
  int pitch_f, pitch_t;  // elements
  std::size_t first;     // element of the lane's first pixel
};

/// The residual comes from far away: it is fetched into L2 while the products run.
template <typename T>
__device__ __forceinline__ void prefetch_residual(const ConvArgs& args, int work) {
  if ((threadIdx.x & 3) != 0) return;
  const ConvCorner<T> corner(args, work);
#pragma unroll
  for (int r = 0; r < T::kRows; ++r)
#pragma unroll
    for (int half_tile = 0; half_tile < 2; ++half_tile)
      if (corner.inside(r, half_tile)) {
        const __half* residual = args.residual + corner.first + corner.at(r, half_tile);
        prefetch_line(residual);
        if (T::kSplit) prefetch_line(residual + args.cout);
      }
}

/// y = relu(sum * unscale + bias + residual), rounded to halves.
template <typename T>
__device__ __forceinline__ void write_tile(const ConvArgs& args, int work,
                                           const float (&sum)[T::kRows][T::kNTiles][4]) {
  const ConvCorner<T> corner(args, work);
  constexpr int kBatch = T::kSplit ? 1 : 2;  // rows
  const bool has_residual = args.residual != nullptr;
  const float least = args.relu ? 0.0F : -INFINITY;
  RangeWatch watch;
#pragma unroll
  for (int group = 0; group < T::kWarpN / 32; ++group) {
    const float4* source = reinterpret_cast<const float4*>(args.bias + corner.channel + group * 32);
    const float4 bias_0 = source[0], bias_1 = source[1];
    const float bias[8] = {bias_0.x, bias_0.y, bias_0.z, bias_0.w,
                           bias_1.x, bias_1.y, bias_1.z, bias_1.w};
    const __half* residual = args.residual + corner.first + group * 32;
    __half* output = args.output + corner.first + group * 32;
#pragma unroll
    for (int r0 = 0; r0 < T::kRows; r0 += kBatch) {
      // All reads of a batch are under way before the first is used. Without a residual zeros are
      // added: a branch around the additions costs registers, and spills.
      uint4 read[kBatch][2][T::kParts] = {};
      if (has_residual)
#pragma unroll
        for (int i = 0; i < kBatch * 2; ++i)
#pragma unroll
          for (int part = 0; part < T::kParts; ++part)
            if (r0 + i / 2 < T::kRows && corner.inside(r0 + i / 2, i % 2))
              read[i / 2][i % 2][part] = __ldg(reinterpret_cast<const uint4*>(
                  residual + corner.at(r0 + i / 2, i % 2) + part * args.cout));
#pragma unroll
      for (int i = 0; i < kBatch * 2; ++i) {
        const int r = r0 + i / 2;
        if (r >= T::kRows || !corner.inside(r, i % 2)) continue;
        float x[8];
#pragma unroll
        for (int c = 0; c < 8; ++c)
          x[c] = sum[r][group * 4 + c / 2][i % 2 * 2 + c % 2] * args.unscale + bias[c];
#pragma unroll
        for (int part = 0; part < T::kParts; ++part) add_halves(x, read[i / 2][i % 2][part]);
#pragma unroll
        for (int c = 0; c < 8; ++c) x[c] = fmaxf(x[c], least);
        __half* target = output + corner.at(r, i % 2);
        store_halves(x, target, T::kSplit, watch);
        if (T::kSplit) store_halves(x, target + args.cout, false, watch);
      }
    }
  }
  if (watch.overflowed() && args.range != nullptr) args.range[corner.item] = 1;
}

template <typename T>
__global__ void __launch_bounds__(T::kThreads, T::kMinBlocks) conv_mma(ConvArgs args, int works) {
  extern __shared__ __align__(128) std::uint8_t shared[];
  const std::uint32_t tiles = shared_address(shared), stages = tiles + T::kTiles * T::kTileBytes;
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const int warp_t = warp % T::kTile.warps_t * 16;
  const int warp_f = warp / T::kTile.warps_t % T::kTile.warps_f * T::kRows;
  const int warp_n = warp / (T::kTile.warps_t * T::kTile.warps_f) * T::kWarpN;
  const int slabs = args.cin / T::kSlab;
  int work = static_cast<int>(blockIdx.x);
  if (work >= works) return;

  // What is to be loaded next; it runs kAhead steps before the products.
  ConvPlace ahead = conv_place<T>(args, work);
  int ahead_work = work, ahead_slab = 0, ahead_step = 0, ahead_tile = 0, ahead_stage = 0;
  const auto load_next = [&] {
    if (ahead_work < works) {
      if (ahead_step == 0)
        load_tile<T>(args, ahead, ahead_slab, tiles + ahead_tile * T::kTileBytes);
      if (!T::kResident) {
        load_stage<T>(args, ahead.cout0, ahead_slab * T::kKernel + ahead_step,
                      stages + ahead_stage * T::kStageBytes);
        ahead_stage = ahead_stage + 1 == T::kStages ? 0 : ahead_stage + 1;
      }
      if (++ahead_step == T::kSteps) {
        ahead_step = 0;
        ahead_tile = ahead_tile + 1 == T::kTiles ? 0 : ahead_tile + 1;
        if (++ahead_slab == slabs) {
          ahead_slab = 0;
          ahead_work += static_cast<int>(gridDim.x);
          if (ahead_work < works) ahead = conv_place<T>(args, ahead_work);
        }
      }
    }
    commit_copies();
  };
  if (T::kResident)
    for (int stage = 0; stage < slabs * T::kKernel; ++stage)
      load_stage<T>(args, 0, stage, stages + stage * T::kStageBytes);
#pragma unroll 1
  for (int step = 0; step < T::kAhead; ++step) load_next();

  // Addresses of this lane's rows in ldmatrix: 16 pixels along time, 16 output channels.
  const int column = warp_t + (lane & 15), piece_a = lane >> 4;
  const std::uint32_t origin_f = static_cast<std::uint32_t>(warp_f * T::kStep * T::kRowBytes);
  const std::uint32_t origin_b = static_cast<std::uint32_t>(
      piece_offset(warp_n + (lane & 7) + ((lane >> 4) << 3), (lane >> 3) & 1));
  const auto pixel_offset = [&](int tap) {
    const int slot =
        T::kStep == 2 ? column + (tap >> 1) + (tap & 1) * (T::kTileT + 1) : column + tap;
    return origin_f + static_cast<std::uint32_t>(piece_offset(slot, piece_a));
  };

  int tile = 0, stage = 0;
  for (; work < works; work += static_cast<int>(gridDim.x)) {
    if (args.residual != nullptr) prefetch_residual<T>(args, work);
    float sum[T::kRows][T::kNTiles][4] = {};
    for (int slab = 0; slab < slabs; ++slab) {
#pragma unroll 1
      for (int step = 0; step < T::kSteps; ++step) {
        wait_copies<T::kAhead - 1>();
        __syncthreads();
        load_next();  // into the buffers that the barrier has freed
        const std::uint32_t pixels = tiles + tile * T::kTileBytes;
        if constexpr (T::kResident) {
#pragma unroll 1
          for (int tap = 0; tap < T::kKernel; ++tap)
            add_time_tap<T>(sum, pixels + pixel_offset(tap),
                            stages + (slab * T::kKernel + tap) * T::kStageBytes + origin_b);
        } else {
          add_time_tap<T>(sum, pixels + pixel_offset(step),
                          stages + stage * T::kStageBytes + origin_b);
          stage = stage + 1 == T::kStages ? 0 : stage + 1;
        }
      }
      tile = tile + 1 == T::kTiles ? 0 : tile + 1;
    }

    write_tile<T>(args, work, sum);
  }
}

}  // namespace diarist::backend::cuda
