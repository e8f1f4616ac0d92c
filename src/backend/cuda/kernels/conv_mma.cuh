#pragma once
// Convolution with a halo tile in shared memory and warp-level tensor-core products: the portable
// family (sm_75 and later).
//
// One CTA computes kTileF x kTileT output pixels times kCout output channels of one item. Input
// channels go by slabs of kSlab: the slab's halo tile (all pixels that the nine taps touch) is
// loaded once and serves every tap; the weights of a slab stream through a ring of stages, kTapStep
// taps each (few channels make little arithmetic per barrier, so they take all nine at once). In
// split mode each group of channels makes three slabs: high x high, high x low weights, low x high;
// the sum has FP32 accuracy. A pixel's sum runs over slabs, taps and channels in one fixed order,
// so its bits do not depend on the batch. Shared memory: rows of kSlab halves, 16-byte chunks
// swizzled by the pixel so that ldmatrix reads without bank conflicts. Eight warps; each owns
// kWarpM x kWarpN of the 128 x kCout tile.

#include "backend/cuda/kernels/conv_args.hpp"
#include "backend/cuda/kernels/mma.cuh"

namespace diarist::backend::cuda {

template <int kSlab_, int kCout_, int kTaps_, int kStrideF_, int kStrideT_, int kTileF_,
          int kTapStep_, bool kSplit_>
struct ConvTraits {
  static constexpr int kSlab = kSlab_, kCout = kCout_, kTaps = kTaps_;
  static constexpr int kStrideF = kStrideF_, kStrideT = kStrideT_;
  static constexpr bool kSplit = kSplit_;
  static constexpr int kTileF = kTileF_, kTileT = 64, kPixels = kTileF * kTileT;
  static constexpr int kTapStep = kTapStep_;        // taps whose weights make one stage
  static constexpr int kGroups = kTaps / kTapStep;  // stages per slab
  static constexpr int kThreads = 256;
  static constexpr int kKernel = kTaps == 9 ? 3 : 1;
  // A 1x1 kernel loads only the pixels it uses, so its tile has no stride of its own.
  static constexpr int kStepF = kTaps == 9 ? kStrideF : 1, kStepT = kTaps == 9 ? kStrideT : 1;
  static constexpr int kHaloF = (kTileF - 1) * kStepF + kKernel;
  static constexpr int kHaloT = (kTileT - 1) * kStepT + kKernel;
  static constexpr int kHalo = kHaloF * kHaloT;
  static constexpr int kRow = kSlab * 2;     // bytes of a pixel or of a weight row
  static constexpr int kChunks = kSlab / 8;  // of 16 bytes
  static constexpr int kTileBytes = kHalo * kRow;
  static constexpr int kStageBytes = kTapStep * kCout * kRow;
  static constexpr int kStages = 2;
  static constexpr int kAhead = kStages - 1;  // stages loaded before they are needed
  static constexpr int kTiles = kGroups == 1 ? kStages : 2;
  /// Shared memory for a number of slabs: short loops need fewer buffers, so more CTAs fit.
  static constexpr int shared_bytes(int slabs) {
    const int steps = slabs * kGroups;
    return (slabs < kTiles ? slabs : kTiles) * kTileBytes +
           (steps < kStages ? steps : kStages) * kStageBytes;
  }
  static constexpr int kWarpsN = kCout >= 64 ? 2 : 1, kWarpsM = 8 / kWarpsN;
  static constexpr int kWarpM = kPixels / kWarpsM, kWarpN = kCout / kWarpsN;
  static constexpr int kMTiles = kWarpM / 16, kNTiles = kWarpN / 8;
};

/// Byte offset of a 16-byte chunk in rows of kSlab halves. `kStep`: distance of the rows that one
/// ldmatrix reads.
template <int kSlab, int kStep>
__device__ __forceinline__ int swizzled(int row, int chunk) {
  constexpr int kShift = (kSlab == 32 ? 1 : 0) + (kStep == 2 ? 1 : 0);
  return row * (kSlab * 2) + ((chunk ^ ((row >> kShift) & (kSlab / 8 - 1))) << 4);
}

template <typename T>
__global__ void __launch_bounds__(T::kThreads, T::kMTiles* T::kNTiles > 16 ? 1 : 2)
    conv_mma(ConvArgs args) {
  extern __shared__ __align__(128) std::uint8_t shared[];
  const std::uint32_t tiles = shared_address(shared);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int tiles_t = (args.out_t + T::kTileT - 1) / T::kTileT;
  const int f0 = static_cast<int>(blockIdx.x) / tiles_t * T::kTileF;
  const int t0 = static_cast<int>(blockIdx.x) % tiles_t * T::kTileT;
  const int cout0 = static_cast<int>(blockIdx.y) * T::kCout;
  const int item = static_cast<int>(blockIdx.z);
  const int parts = T::kSplit ? 2 : 1;
  const int groups = args.cin / T::kSlab;
  const int slabs = groups * (T::kSplit ? 3 : 1);
  const int steps = slabs * T::kGroups;
  const std::uint32_t stages = tiles + min(slabs, T::kTiles) * T::kTileBytes;
  const __half* input =
      args.input + static_cast<std::size_t>(item) * args.in_f * args.in_t * args.cin * parts;

  // Slab order per group: (high, W high), (high, W low), (low, W high).
  const auto load_tile = [&](int slab) {
    const int group = T::kSplit ? slab / 3 : slab;
    const bool low = T::kSplit && slab % 3 == 2;
    const __half* source = input + group * T::kSlab + (low ? args.cin : 0);
    const std::uint32_t target = tiles + slab % T::kTiles * T::kTileBytes;
    for (int i = threadIdx.x; i < T::kHalo * T::kChunks; i += T::kThreads) {
      const int pixel = i / T::kChunks, chunk = i % T::kChunks;
      const int row = pixel / T::kHaloT, column = pixel % T::kHaloT;
      int f, t;
      if (T::kTaps == 9) {
        f = f0 * T::kStrideF - 1 + row;
        t = t0 * T::kStrideT - 1 + column;
      } else {
        f = (f0 + row) * T::kStrideF;
        t = (t0 + column) * T::kStrideT;
      }
      const bool inside = f >= 0 && f < args.in_f && t >= 0 && t < args.in_t;
      const std::size_t offset =
          inside ? (static_cast<std::size_t>(f) * args.in_t + t) * args.cin * parts : 0;
      copy_16(target + swizzled<T::kSlab, T::kStepT>(pixel, chunk), source + offset + chunk * 8,
              inside);
    }
  };
  const auto load_weights = [&](int step) {
    const __half* source =
        args.weights +
        (static_cast<std::size_t>(step) * T::kTapStep * args.cout + cout0) * T::kSlab;
    const std::uint32_t target = stages + step % T::kStages * T::kStageBytes;
    for (int i = threadIdx.x; i < T::kTapStep * T::kCout * T::kChunks; i += T::kThreads) {
      const int row = i / T::kChunks, chunk = i % T::kChunks;
      const int tap = row / T::kCout, channel = row % T::kCout;
      copy_16(target + swizzled<T::kSlab, 1>(row, chunk),
              source + (tap * args.cout + channel) * T::kSlab + chunk * 8, true);
    }
  };

  float sum[T::kMTiles][T::kNTiles][4] = {};
  const int warp_m = warp % T::kWarpsM * T::kWarpM, warp_n = warp / T::kWarpsM * T::kWarpN;
  // Halo pixel of the row that this lane addresses in each 16-pixel tile, at tap (0, 0).
  int origin[T::kMTiles];
#pragma unroll
  for (int m = 0; m < T::kMTiles; ++m) {
    const int pixel = warp_m + m * 16 + (lane & 15);
    origin[m] = pixel / T::kTileT * T::kStepF * T::kHaloT + pixel % T::kTileT * T::kStepT;
  }
  const int chunk_a = lane >> 4;                      // which 8 of 16 channels
  const int row_b = (lane & 7) + ((lane >> 4) << 3);  // output channel within 16
  const int chunk_b = (lane >> 3) & 1;

#pragma unroll
  for (int step = 0; step < T::kAhead; ++step) {
    if (step % T::kGroups == 0 && step / T::kGroups < slabs) load_tile(step / T::kGroups);
    if (step < steps) load_weights(step);
    commit_copies();
  }
  for (int step = 0; step < steps; ++step) {
    wait_copies<T::kAhead - 1>();
    __syncthreads();
    const int slab = step / T::kGroups, group = step % T::kGroups;
    // The buffers of what is loaded now were freed by the barrier above.
    const int ahead = T::kGroups == 1 ? slab + T::kAhead : slab + 1;
    if (group == 0 && ahead < slabs) load_tile(ahead);
    if (step + T::kAhead < steps) load_weights(step + T::kAhead);
    commit_copies();
    const std::uint32_t tile = tiles + slab % T::kTiles * T::kTileBytes;
    const std::uint32_t stage = stages + step % T::kStages * T::kStageBytes;
#pragma unroll
    for (int part = 0; part < T::kTapStep; ++part) {
      const int tap = group * T::kTapStep + part;
      const int shift = T::kTaps == 9 ? tap / 3 * T::kHaloT + tap % 3 : 0;
#pragma unroll
      for (int k = 0; k < T::kSlab / 16; ++k) {
        std::uint32_t a[T::kMTiles][4];
#pragma unroll
        for (int m = 0; m < T::kMTiles; ++m)
          load_matrices(tile + swizzled<T::kSlab, T::kStepT>(origin[m] + shift, 2 * k + chunk_a),
                        a[m]);
#pragma unroll
        for (int n = 0; n < T::kNTiles; n += 2) {
          std::uint32_t b[4];
          load_matrices(stage + swizzled<T::kSlab, 1>(part * T::kCout + warp_n + n * 8 + row_b,
                                                      2 * k + chunk_b),
                        b);
#pragma unroll
          for (int m = 0; m < T::kMTiles; ++m) {
            multiply_add(sum[m][n], a[m], b[0], b[1]);
            multiply_add(sum[m][n + 1], a[m], b[2], b[3]);
          }
        }
      }
    }
  }

  bool overflow = false;
#pragma unroll
  for (int m = 0; m < T::kMTiles; ++m)
#pragma unroll
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      const int pixel = warp_m + m * 16 + half_tile * 8 + (lane >> 2);
      const int f = f0 + pixel / T::kTileT, t = t0 + pixel % T::kTileT;
      if (f >= args.out_f || t >= args.out_t) continue;
      const std::size_t base =
          ((static_cast<std::size_t>(item) * args.out_f + f) * args.out_t + t) * args.cout * parts;
#pragma unroll
      for (int n = 0; n < T::kNTiles; ++n) {
        const int channel = cout0 + warp_n + n * 8 + (lane & 3) * 2;
        const float2 bias = *reinterpret_cast<const float2*>(args.bias + channel);
        float x = sum[m][n][half_tile * 2] * args.unscale + bias.x;
        float y = sum[m][n][half_tile * 2 + 1] * args.unscale + bias.y;
        if (args.residual != nullptr) {
          const __half* residual = args.residual + base + channel;
          const float2 high = __half22float2(*reinterpret_cast<const __half2*>(residual));
          x += high.x;
          y += high.y;
          if (T::kSplit) {
            const float2 low =
                __half22float2(*reinterpret_cast<const __half2*>(residual + args.cout));
            x += low.x;
            y += low.y;
          }
        }
        if (args.relu) {
          x = fmaxf(x, 0.0F);
          y = fmaxf(y, 0.0F);
        }
        constexpr float kLimit = 65504.0F;
        overflow = overflow || !(fabsf(x) <= kLimit) || !(fabsf(y) <= kLimit);
        x = fminf(fmaxf(x, -kLimit), kLimit);
        y = fminf(fmaxf(y, -kLimit), kLimit);
        const __half2 high = __floats2half2_rn(x, y);
        *reinterpret_cast<__half2*>(args.output + base + channel) = high;
        if (T::kSplit) {
          const float2 rounded = __half22float2(high);
          *reinterpret_cast<__half2*>(args.output + base + args.cout + channel) =
              __floats2half2_rn(x - rounded.x, y - rounded.y);
        }
      }
    }
  if (overflow && args.range != nullptr) args.range[item] = 1;
}

}  // namespace diarist::backend::cuda
