// 3x3 stride-2 convolution as conv_tile makes those of stride 1.
//
// A CTA computes tiles of 4 frequencies x 64 time steps x kCout output channels of one item. A slab
// of 32 input channels comes as two halo tiles of 9 rows, with an element stride of 2 along time:
// even pixels 2j and odd pixels 2j - 1, so that every tap is a plain offset into one of them. The
// weights stream through a ring, one tap of one slab per stage. Warp 8 copies; warpgroups 0 and 1
// multiply, two frequencies each, and write their results themselves: a warp lays 16 pixels out in
// shared memory and stores them in whole lines. Split mode as in conv_tile. A pixel's sum runs over
// slabs, taps and channels in one order, whatever kCout and the batch are.

#include "backend/cuda/kernels/hopper/conv_stride.hpp"
#include "backend/cuda/kernels/hopper/product.cuh"
#include "backend/cuda/kernels/hopper/ptx.cuh"
#include "backend/cuda/kernels/hopper/tensor_map.hpp"

namespace diarist::backend::cuda::hopper {
namespace {

constexpr int kTileT = 64, kTileF = 4, kRows = 2 * kTileF + 1;
constexpr int kSlab = 32, kRow = 64;  // channels and bytes of a pixel's slab
constexpr int kEvenRow = kTileT * kRow, kOddRow = (kTileT + 1) * kRow;
constexpr int kEvenBytes = kRows * kEvenRow, kOddBytes = kRows * kOddRow;
constexpr int kHaloSpace = (kEvenBytes + kOddBytes + 1023) / 1024 * 1024;
constexpr int kTiles = 2;
constexpr int kMultiplyWarps = 8, kThreads = (kMultiplyWarps + 1) * 32;
static_assert(kEvenBytes % 512 == 0);

template <int kCout_, bool kSplit_>
struct StrideTraits {
  static constexpr int kCout = kCout_;
  static constexpr bool kSplit = kSplit_;
  static constexpr int kParts = kSplit ? 2 : 1;
  static constexpr int kStageBytes = kCout * kRow;
  static constexpr int kStages = 32768 / kStageBytes;
  static constexpr int kLine = kCout * kParts * 2;  // bytes of a finished pixel
  static constexpr int kWeightsAt = kTiles * kHaloSpace;
  static constexpr int kLinesAt = kWeightsAt + kStages * kStageBytes;
  static constexpr int kBarriersAt = kLinesAt + kMultiplyWarps * 16 * kLine;
  static constexpr int kShared = kBarriersAt + 2 * (kTiles + kStages) * 8 + 1024;
  static_assert(kShared <= 230000);
};

template <int kSize>
struct Ring {
  int index = 0;
  std::uint32_t parity = 0;
  __device__ __forceinline__ void advance() {
    if (++index == kSize) {
      index = 0;
      parity ^= 1;
    }
  }
};

struct Place {
  int channel, time, frequency, item;
};

template <typename T>
__device__ __forceinline__ Place place_of(const StridePlan& plan, int tile) {
  Place place;
  place.channel = tile % plan.tiles_c * T::kCout;
  tile /= plan.tiles_c;
  place.time = tile % plan.tiles_t * kTileT;
  tile /= plan.tiles_t;
  place.frequency = tile % plan.tiles_f * kTileF;
  place.item = tile / plan.tiles_f;
  return place;
}

template <typename T>
struct Shared {
  std::uint32_t base;
  __device__ std::uint32_t tile(int i) const { return base + i * kHaloSpace; }
  __device__ std::uint32_t stage(int i) const { return base + T::kWeightsAt + i * T::kStageBytes; }
  __device__ std::uint32_t barrier(int i) const { return base + T::kBarriersAt + i * 8; }
  __device__ std::uint32_t tile_full(int i) const { return barrier(i); }
  __device__ std::uint32_t tile_free(int i) const { return barrier(kTiles + i); }
  __device__ std::uint32_t stage_full(int i) const { return barrier(2 * kTiles + i); }
  __device__ std::uint32_t stage_free(int i) const { return barrier(2 * kTiles + T::kStages + i); }
};

template <typename T>
__device__ void copy_operands(const StridePlan& plan, const Shared<T>& shared, int tiles) {
  Ring<kTiles> tile_ring;
  Ring<T::kStages> stage_ring;
  const auto* weights = static_cast<const std::uint8_t*>(plan.weights);
  const std::size_t tap_bytes = static_cast<std::size_t>(plan.cout) * kRow;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Place place = place_of<T>(plan, tile);
    const std::uint8_t* source = weights + static_cast<std::size_t>(place.channel) * kRow;
    for (int slab = 0; slab < plan.slabs; ++slab)
      for (int part = 0; part < T::kParts; ++part) {
        const std::uint32_t full = shared.tile_full(tile_ring.index);
        const std::uint32_t target = shared.tile(tile_ring.index);
        const int channel = slab * kSlab + part * plan.cin;
        barrier_wait(shared.tile_free(tile_ring.index), tile_ring.parity ^ 1);
        barrier_expect(full, kEvenBytes + kOddBytes);
        load_box(target, &plan.even, full, channel, 2 * place.time, 2 * place.frequency - 1,
                 place.item);
        load_box(target + kEvenBytes, &plan.odd, full, channel, 2 * place.time - 1,
                 2 * place.frequency - 1, place.item);
        tile_ring.advance();
        const int taps = T::kSplit && part == 0 ? 18 : 9;
        for (int tap = 0; tap < taps; ++tap) {
          barrier_wait(shared.stage_free(stage_ring.index), stage_ring.parity ^ 1);
          barrier_expect(shared.stage_full(stage_ring.index), T::kStageBytes);
          load_bytes(shared.stage(stage_ring.index), source, T::kStageBytes,
                     shared.stage_full(stage_ring.index));
          source += tap_bytes;
          stage_ring.advance();
        }
      }
  }
}

// One frequency of the warp's 16 pixels: to shared memory, then to the map in whole lines.
template <typename T>
__device__ __forceinline__ void finish_row(const StridePlan& plan, std::uint8_t* lines,
                                           const Place& place, int row, int group,
                                           const float (&sum)[T::kCout / 2], const float* bias,
                                           std::uint32_t& peak) {
  const int lane = threadIdx.x & 31, warp = (threadIdx.x >> 5) & 3;
  constexpr int kPieces = T::kLine / 16;
  const int frequency = place.frequency + 2 * group + row;
  const int time0 = place.time + 16 * warp;
  const std::uint32_t base = shared_address(lines);
#pragma unroll
  for (int j = 0; j < T::kCout / 16; ++j) {
    const float2 b0 = *reinterpret_cast<const float2*>(bias + 16 * j + 2 * (lane & 3));
    const float2 b1 = *reinterpret_cast<const float2*>(bias + 16 * j + 8 + 2 * (lane & 3));
    std::uint32_t high[4], low[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 b = i < 2 ? b0 : b1;
      const float x = fmaf(sum[8 * j + 2 * i], plan.unscale, b.x);
      const float y = fmaf(sum[8 * j + 2 * i + 1], plan.unscale, b.y);
      high[i] = pack_relu(x, y);
      keep_peak(peak, high[i]);
      if (T::kSplit) {
        const float2 v = unpack(high[i]);
        low[i] = pack(fmaxf(x, 0.0F) - v.x, fmaxf(y, 0.0F) - v.y);
      }
    }
    const int pixel = lane & 15, piece = 2 * j + (lane >> 4);
    store_matrices(base + pixel * T::kLine + ((piece ^ (pixel & 7)) << 4), high);
    if (T::kSplit)
      store_matrices(base + pixel * T::kLine + (((piece + kPieces / 2) ^ (pixel & 7)) << 4), low);
  }
  __syncwarp();
  if (frequency < plan.out_f) {
    const std::size_t first =
        (static_cast<std::size_t>(place.item) * plan.out_f + frequency) * plan.out_t;
#pragma unroll
    for (int i = lane; i < 16 * kPieces; i += 32) {
      const int pixel = i / kPieces, piece = i % kPieces;
      const bool is_low = T::kSplit && piece >= kPieces / 2;
      if (time0 + pixel >= plan.out_t) continue;
      const uint4 value =
          *reinterpret_cast<const uint4*>(lines + pixel * T::kLine + ((piece ^ (pixel & 7)) << 4));
      __half* target = plan.output + (first + time0 + pixel) * plan.cout * T::kParts +
                       place.channel + (is_low ? plan.cout + (piece - kPieces / 2) * 8 : piece * 8);
      *reinterpret_cast<uint4*>(target) = value;
    }
  }
  __syncwarp();
}

template <typename T>
__device__ void multiply(const StridePlan& plan, const Shared<T>& shared, int tiles, int group,
                         const float* bias, std::uint8_t* lines) {
  Ring<kTiles> tile_ring;
  Ring<T::kStages> stage_ring;
  const int lane = threadIdx.x & 31;
  float sum[2][T::kCout / 2];
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Place place = place_of<T>(plan, tile);
    int keep = 0;
    int last = -1;  // stage whose products may still run
    for (int part = 0; part < plan.slabs * T::kParts; ++part) {
      barrier_wait(shared.tile_full(tile_ring.index), tile_ring.parity);
      const std::uint32_t even = shared.tile(tile_ring.index) + 4 * group * kEvenRow;
      const std::uint32_t odd = shared.tile(tile_ring.index) + kEvenBytes + 4 * group * kOddRow;
      const int rounds = T::kSplit && (part & 1) == 0 ? 2 : 1;
      for (int again = 0; again < rounds; ++again)
#pragma unroll 1
        for (int kernel_f = 0; kernel_f < 3; ++kernel_f)
#pragma unroll 1
          for (int kernel_t = 0; kernel_t < 3; ++kernel_t) {
            barrier_wait(shared.stage_full(stage_ring.index), stage_ring.parity);
            const std::uint32_t first = kernel_t == 1
                                            ? even + kernel_f * kEvenRow
                                            : odd + kernel_f * kOddRow + (kernel_t >> 1) * kRow;
            const std::uint64_t a = operand<kRow>(first);
            const std::uint64_t next = kernel_t == 1 ? 2 * kEvenRow >> 4 : 2 * kOddRow >> 4;
            const std::uint64_t b = operand<kRow>(shared.stage(stage_ring.index));
            products_begin();
#pragma unroll
            for (int k = 0; k < kSlab / 16; ++k) {
              Product<T::kCout>::add(sum[0], a + k * 2, b + k * 2, keep | k);
              Product<T::kCout>::add(sum[1], a + next + k * 2, b + k * 2, keep | k);
            }
            products_commit();
            keep = 1;
            products_wait<1>();
            if (last >= 0 && lane == 0) barrier_arrive(shared.stage_free(last));
            last = stage_ring.index;
            stage_ring.advance();
          }
      products_wait<0>();
      if (lane == 0) {
        barrier_arrive(shared.stage_free(last));
        barrier_arrive(shared.tile_free(tile_ring.index));
      }
      last = -1;
      tile_ring.advance();
    }
    std::uint32_t peak = 0;
    finish_row<T>(plan, lines, place, 0, group, sum[0], bias + place.channel, peak);
    finish_row<T>(plan, lines, place, 1, group, sum[1], bias + place.channel, peak);
    if (left_range(peak)) plan.range[place.item] = 1;
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 1)
    conv_stride(const __grid_constant__ StridePlan plan) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::uint8_t raw[];
  const Shared<T> shared{(shared_address(raw) + 1023) & ~1023U};
  std::uint8_t* const bytes = raw + (shared.base - shared_address(raw));
  const int warp = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x >> 5), 0);
  const int tiles = plan.tiles_c * plan.tiles_t * plan.tiles_f * plan.items;
  __shared__ __align__(8) float bias[512];
  for (int i = threadIdx.x; i < plan.cout; i += kThreads) bias[i] = plan.bias[i];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kTiles; ++i) {
      barrier_init(shared.tile_full(i), 1);
      barrier_init(shared.tile_free(i), kMultiplyWarps);
    }
    for (int i = 0; i < T::kStages; ++i) {
      barrier_init(shared.stage_full(i), 1);
      barrier_init(shared.stage_free(i), kMultiplyWarps);
    }
    fence_async();
  }
  __syncthreads();
  if (warp < kMultiplyWarps) {
    multiply<T>(plan, shared, tiles, warp >> 2, bias, bytes + T::kLinesAt + warp * 16 * T::kLine);
  } else if ((threadIdx.x & 31) == 0) {
    copy_operands<T>(plan, shared, tiles);
  }
#endif
}

template <typename T>
cudaError_t prepare() {
  return cudaFuncSetAttribute(conv_stride<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              T::kShared);
}

template <typename T>
cudaError_t launch(const StridePlan& plan, cudaStream_t stream) {
  conv_stride<T><<<static_cast<unsigned>(plan.grid), kThreads, T::kShared, stream>>>(plan);
  return cudaGetLastError();
}

using Wide = StrideTraits<128, false>;
using Narrow = StrideTraits<64, false>;
using Split = StrideTraits<64, true>;

}  // namespace

cudaError_t plan_conv_stride(StridePlan* plan, const ConvArgs& args, bool split, bool narrow,
                             int multiprocessors) {
  const int channels = split || narrow || args.cout % 128 != 0 ? 64 : 128;
  if (args.cin % 32 != 0 || args.cout % 64 != 0 || args.cout > 512 || !args.relu ||
      args.residual != nullptr || args.out_f != (args.in_f + 1) / 2 ||
      args.out_t != (args.in_t + 1) / 2)
    return cudaErrorNotSupported;
  const HalfMap in{const_cast<__half*>(args.input), args.cin * (split ? 2 : 1), args.in_t,
                   args.in_f, args.items};
  cudaError_t error = make_tensor_map(&plan->even, in, {kSlab, 2 * kTileT - 1, kRows, 2});
  if (error == cudaSuccess)
    error = make_tensor_map(&plan->odd, in, {kSlab, 2 * kTileT + 1, kRows, 2});
  if (error != cudaSuccess) return error;
  plan->weights = args.weights;
  plan->bias = args.bias;
  plan->output = args.output;
  plan->unscale = args.unscale;
  plan->slabs = args.cin / kSlab;
  plan->cin = args.cin;
  plan->cout = args.cout;
  plan->out_f = args.out_f;
  plan->out_t = args.out_t;
  plan->tiles_t = (args.out_t + kTileT - 1) / kTileT;
  plan->tiles_f = (args.out_f + kTileF - 1) / kTileF;
  plan->tiles_c = args.cout / channels;
  plan->items = args.items;
  plan->split = split;
  plan->tile_channels = channels;
  const int tiles = plan->tiles_t * plan->tiles_f * plan->tiles_c * plan->items;
  plan->grid = tiles < multiprocessors ? tiles : multiprocessors;
  plan->range = args.range;
  return cudaSuccess;
}

cudaError_t launch_conv_stride(const StridePlan& plan, cudaStream_t stream) {
  if (plan.split) return launch<Split>(plan, stream);
  return plan.tile_channels == 128 ? launch<Wide>(plan, stream) : launch<Narrow>(plan, stream);
}

cudaError_t prepare_conv_stride() {
  for (const cudaError_t error : {prepare<Wide>(), prepare<Narrow>(), prepare<Split>()})
    if (error != cudaSuccess) return error;
  return cudaSuccess;
}

}  // namespace diarist::backend::cuda::hopper
