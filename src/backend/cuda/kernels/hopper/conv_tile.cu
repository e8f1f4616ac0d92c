// 3x3 stride-1 convolution for 64 channels and more: implicit product with a halo tile.
//
// A CTA computes tiles of 256 pixels (4 frequencies x 64 time steps, or 2 x 128 where 4 would leave
// rows over) x kCout output channels of one item; the grid is persistent and walks over all tiles.
// Input channels go by slabs: the slab's halo tile is copied once and serves all nine taps, since a
// tap is an offset of the A operand's start address. The weights stream through a ring, one tap of
// one slab per stage. Warp 8 copies, warp 9 fetches the residual and sends the output off;
// warpgroups 0 and 1 multiply, two rows of 64 pixels each. In split mode a pixel is [high | low]
// and a slab of channels makes the products high x high, high x low weights, low x high (the high
// tile is read once for both). A pixel's sum runs over slabs, taps and channels in one order,
// whatever kCout and the batch are.

#include "backend/cuda/kernels/hopper/conv_tile.hpp"
#include "backend/cuda/kernels/hopper/product.cuh"
#include "backend/cuda/kernels/hopper/ptx.cuh"
#include "backend/cuda/kernels/hopper/tensor_map.hpp"

namespace diarist::backend::cuda::hopper {
namespace {

constexpr int kPixelRow = 64;               // pixels of one product
constexpr int kBoxBytes = kPixelRow * 128;  // 64 pixels x 64 channels of the output
constexpr int kMultiplyWarps = 8;
constexpr int kThreads = (kMultiplyWarps + 2) * 32;

template <int kCout_, int kSlab_, int kTileF_, bool kSplit_>
struct TileTraits {
  static constexpr int kCout = kCout_, kSlab = kSlab_, kTileF = kTileF_;
  static constexpr bool kSplit = kSplit_;
  static constexpr int kTileT = 256 / kTileF;
  static constexpr int kHaloT = kTileT + 2, kHaloF = kTileF + 2;
  static constexpr int kRow = kSlab * 2;  // bytes of a pixel's slab
  static constexpr int kHaloBytes = kHaloT * kHaloF * kRow;
  static constexpr int kHaloSpace = (kHaloBytes + 1023) / 1024 * 1024;
  static constexpr int kTiles = 2;  // halo tiles in flight
  static constexpr int kStageBytes = kCout * kRow;
  static constexpr int kStages = 49152 / kStageBytes;
  static constexpr int kParts = kSplit ? 2 : 1;
  static constexpr int kBoxesC = kCout / 64;           // boxes per row of output
  static constexpr int kBoxes = 2 * kBoxesC * kParts;  // per warpgroup
  static constexpr int kWeightsAt = kTiles * kHaloSpace;
  static constexpr int kBoxesAt = kWeightsAt + kStages * kStageBytes;
  static constexpr int kBarriersAt = kBoxesAt + 2 * kBoxes * kBoxBytes;
  static constexpr int kBarriers = 2 * kTiles + 2 * kStages + 4;
  static constexpr int kShared = kBarriersAt + kBarriers * 8 + 1024;

  // Frequency and time of a row of 64 pixels within the tile: warpgroup 0 or 1, its row 0 or 1.
  static __device__ __forceinline__ int row_f(int group, int row) {
    return kTileF == 4 ? group * 2 + row : group;
  }
  static __device__ __forceinline__ int row_t(int row) { return kTileF == 4 ? 0 : row * 64; }
};

// A ring's position: which buffer, and the parity of its current round.
template <int kSize>
struct Cursor {
  int index = 0;
  std::uint32_t parity = 0;
  __device__ __forceinline__ void advance() {
    if (++index == kSize) {
      index = 0;
      parity ^= 1;
    }
  }
};

struct TilePlace {
  int channel, time, frequency, item;
};

template <typename T>
__device__ __forceinline__ TilePlace place_of(const TilePlan& plan, int tile) {
  TilePlace place;
  place.channel = tile % plan.tiles_c * T::kCout;
  tile /= plan.tiles_c;
  place.time = tile % plan.tiles_t * T::kTileT;
  tile /= plan.tiles_t;
  place.frequency = tile % plan.tiles_f * T::kTileF;
  place.item = tile / plan.tiles_f;
  return place;
}

template <typename T>
struct Shared {
  std::uint32_t base;
  __device__ std::uint32_t tile(int i) const { return base + i * T::kHaloSpace; }
  __device__ std::uint32_t stage(int i) const { return base + T::kWeightsAt + i * T::kStageBytes; }
  // Box of a warpgroup: row 0 or 1 of its two frequencies, 64 channels, high or low part.
  __device__ std::uint32_t box(int group, int row, int c, int part) const {
    return base + T::kBoxesAt +
           ((group * 2 + row) * T::kBoxesC * T::kParts + c * T::kParts + part) * kBoxBytes;
  }
  __device__ std::uint32_t barrier(int i) const { return base + T::kBarriersAt + i * 8; }
  __device__ std::uint32_t tile_full(int i) const { return barrier(i); }
  __device__ std::uint32_t tile_free(int i) const { return barrier(T::kTiles + i); }
  __device__ std::uint32_t stage_full(int i) const { return barrier(2 * T::kTiles + i); }
  __device__ std::uint32_t stage_free(int i) const {
    return barrier(2 * T::kTiles + T::kStages + i);
  }
  // The warpgroup's boxes hold the residual (or are free) / hold the finished output.
  __device__ std::uint32_t boxes_ready(int group) const {
    return barrier(2 * T::kTiles + 2 * T::kStages + group);
  }
  __device__ std::uint32_t boxes_done(int group) const {
    return barrier(2 * T::kTiles + 2 * T::kStages + 2 + group);
  }
};

template <typename T>
__device__ void copy_operands(const TilePlan& plan, const Shared<T>& shared, int tiles) {
  Cursor<T::kTiles> tile_ring;
  Cursor<T::kStages> stage_ring;
  const auto* weights = static_cast<const std::uint8_t*>(plan.weights);
  const std::size_t tap_bytes = static_cast<std::size_t>(plan.cout) * T::kRow;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const TilePlace place = place_of<T>(plan, tile);
    const std::uint8_t* source = weights + static_cast<std::size_t>(place.channel) * T::kRow;
    for (int group = 0; group < plan.slabs; ++group)
      for (int part = 0; part < T::kParts; ++part) {
        barrier_wait(shared.tile_free(tile_ring.index), tile_ring.parity ^ 1);
        barrier_expect(shared.tile_full(tile_ring.index), T::kHaloBytes);
        load_box(shared.tile(tile_ring.index), &plan.input, shared.tile_full(tile_ring.index),
                 group * T::kSlab + part * plan.cin, place.time - 1, place.frequency - 1,
                 place.item);
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

template <typename T>
__device__ void copy_results(const TilePlan& plan, const Shared<T>& shared, int tiles) {
  const auto make_ready = [&](int tile, int group) {
    if (tile >= tiles) return;
    if (!plan.has_residual) {
      barrier_arrive(shared.boxes_ready(group));
      return;
    }
    const TilePlace place = place_of<T>(plan, tile);
    barrier_expect(shared.boxes_ready(group), T::kBoxes * kBoxBytes);
    for (int row = 0; row < 2; ++row)
      for (int c = 0; c < T::kBoxesC; ++c)
        for (int part = 0; part < T::kParts; ++part)
          load_box(shared.box(group, row, c, part), &plan.residual, shared.boxes_ready(group),
                   place.channel + c * 64 + part * plan.cout, place.time + T::row_t(row),
                   place.frequency + T::row_f(group, row), place.item);
  };
  make_ready(blockIdx.x, 0);
  make_ready(blockIdx.x, 1);
  std::uint32_t parity = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const TilePlace place = place_of<T>(plan, tile);
    for (int group = 0; group < 2; ++group) {
      barrier_wait(shared.boxes_done(group), parity);
      for (int row = 0; row < 2; ++row)
        for (int c = 0; c < T::kBoxesC; ++c)
          for (int part = 0; part < T::kParts; ++part)
            store_box(&plan.output, shared.box(group, row, c, part),
                      place.channel + c * 64 + part * plan.cout, place.time + T::row_t(row),
                      place.frequency + T::row_f(group, row), place.item);
      commit_stores();
      wait_stores_read<0>();
      make_ready(tile + gridDim.x, group);
    }
    parity ^= 1;
  }
  wait_stores<0>();
}

// Adds bias and residual, applies ReLU, and leaves the halves in the warpgroup's boxes.
template <typename T>
__device__ __forceinline__ void finish_row(const TilePlan& plan, const Shared<T>& shared, int group,
                                           int row, const float (&sum)[T::kCout / 2],
                                           const float* bias, std::uint32_t& peak) {
  const int lane = threadIdx.x & 31, warp = (threadIdx.x >> 5) & 3;
  const float unscale = plan.unscale;
#pragma unroll
  for (int j = 0; j < T::kCout / 16; ++j) {
    const std::uint32_t offset = swizzled<128>(16 * warp + (lane & 15), (2 * j) % 8 + (lane >> 4));
    const std::uint32_t high_at = shared.box(group, row, j / 4, 0) + offset;
    const std::uint32_t low_at = high_at + kBoxBytes;
    float x[8];
    const float2 b0 = *reinterpret_cast<const float2*>(bias + 16 * j + 2 * (lane & 3));
    const float2 b1 = *reinterpret_cast<const float2*>(bias + 16 * j + 8 + 2 * (lane & 3));
#pragma unroll
    for (int i = 0; i < 8; ++i)
      x[i] = fmaf(sum[8 * j + i], unscale, i < 4 ? (i & 1 ? b0.y : b0.x) : (i & 1 ? b1.y : b1.x));
    if (plan.has_residual) {
      std::uint32_t r[4];
      load_matrices(high_at, r);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 v = unpack(r[i]);
        x[2 * i] += v.x;
        x[2 * i + 1] += v.y;
      }
      if (T::kSplit) {
        load_matrices(low_at, r);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float2 v = unpack(r[i]);
          x[2 * i] += v.x;
          x[2 * i + 1] += v.y;
        }
      }
    }
    std::uint32_t high[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      high[i] = pack_relu(x[2 * i], x[2 * i + 1]);
      keep_peak(peak, high[i]);
    }
    store_matrices(high_at, high);
    if (T::kSplit) {
      std::uint32_t low[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 v = unpack(high[i]);
        low[i] = pack(fmaxf(x[2 * i], 0.0F) - v.x, fmaxf(x[2 * i + 1], 0.0F) - v.y);
      }
      store_matrices(low_at, low);
    }
  }
}

template <typename T>
__device__ void multiply(const TilePlan& plan, const Shared<T>& shared, int tiles, int group,
                         const float* bias) {
  Cursor<T::kTiles> tile_ring;
  Cursor<T::kStages> stage_ring;
  // Distance of the warpgroup's two rows of pixels in the halo tile, as descriptors count.
  constexpr int kRowStep = (T::kTileF == 4 ? T::kHaloT : 64) * T::kRow >> 4;
  std::uint32_t round = 0;
  const int lane = threadIdx.x & 31;
  float sum[2][T::kCout / 2];
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const TilePlace place = place_of<T>(plan, tile);
    int keep = 0;
    int last = -1;  // stage whose products may still run
    for (int part = 0; part < plan.slabs * T::kParts; ++part) {
      barrier_wait(shared.tile_full(tile_ring.index), tile_ring.parity);
      const std::uint32_t halo =
          shared.tile(tile_ring.index) + T::row_f(group, 0) * T::kHaloT * T::kRow;
      const int rounds = T::kSplit && (part & 1) == 0 ? 2 : 1;
      for (int again = 0; again < rounds; ++again)
#pragma unroll 1
        for (int kernel_f = 0; kernel_f < 3; ++kernel_f)
#pragma unroll 1
          for (int kernel_t = 0; kernel_t < 3; ++kernel_t) {
            barrier_wait(shared.stage_full(stage_ring.index), stage_ring.parity);
            const std::uint64_t a =
                operand<T::kRow>(halo + (kernel_f * T::kHaloT + kernel_t) * T::kRow);
            const std::uint64_t b = operand<T::kRow>(shared.stage(stage_ring.index));
            products_begin();
#pragma unroll
            for (int k = 0; k < T::kSlab / 16; ++k) {
              Product<T::kCout>::add(sum[0], a + k * 2, b + k * 2, keep | k);
              Product<T::kCout>::add(sum[1], a + kRowStep + k * 2, b + k * 2, keep | k);
            }
            products_commit();
            keep = 1;
            products_wait<1>();
            if (last >= 0 && lane == 0) barrier_arrive(shared.stage_free(last));
            last = stage_ring.index;
            stage_ring.advance();
          }
      // The tile may be overwritten only when its last products are through.
      products_wait<0>();
      if (lane == 0) {
        barrier_arrive(shared.stage_free(last));
        barrier_arrive(shared.tile_free(tile_ring.index));
      }
      last = -1;
      tile_ring.advance();
    }
    barrier_wait(shared.boxes_ready(group), round);
    round ^= 1;
    std::uint32_t peak = 0;
    finish_row<T>(plan, shared, group, 0, sum[0], bias + place.channel, peak);
    finish_row<T>(plan, shared, group, 1, sum[1], bias + place.channel, peak);
    fence_async();
    barrier_arrive(shared.boxes_done(group));
    if (left_range(peak)) plan.range[place.item] = 1;
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 1) conv_tile(const __grid_constant__ TilePlan plan) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::uint8_t raw[];
  const Shared<T> shared{(shared_address(raw) + 1023) & ~1023U};
  const int warp = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x >> 5), 0);
  const int tiles = plan.tiles_c * plan.tiles_t * plan.tiles_f * plan.items;
  __shared__ float bias[512];
  for (int i = threadIdx.x; i < plan.cout; i += kThreads) bias[i] = plan.bias[i];
  if (threadIdx.x == 0) {
    for (int i = 0; i < T::kTiles; ++i) {
      barrier_init(shared.tile_full(i), 1);
      barrier_init(shared.tile_free(i), kMultiplyWarps);
    }
    for (int i = 0; i < T::kStages; ++i) {
      barrier_init(shared.stage_full(i), 1);
      barrier_init(shared.stage_free(i), kMultiplyWarps);
    }
    for (int group = 0; group < 2; ++group) {
      barrier_init(shared.boxes_ready(group), 1);
      barrier_init(shared.boxes_done(group), 128);
    }
    fence_async();
  }
  __syncthreads();
  if (warp < kMultiplyWarps) {
    multiply<T>(plan, shared, tiles, warp >> 2, bias);
  } else if (warp == kMultiplyWarps) {
    if ((threadIdx.x & 31) == 0) copy_operands<T>(plan, shared, tiles);
  } else {
    if ((threadIdx.x & 31) == 0) copy_results<T>(plan, shared, tiles);
  }
#endif
}

template <typename T>
cudaError_t prepare() {
  return cudaFuncSetAttribute(conv_tile<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              T::kShared);
}

template <typename T>
cudaError_t launch(const TilePlan& plan, cudaStream_t stream) {
  conv_tile<T><<<static_cast<unsigned>(plan.grid), kThreads, T::kShared, stream>>>(plan);
  return cudaGetLastError();
}

// Frequencies 2 x 128: for maps whose frequencies are not a multiple of 4. Its halo is larger, so
// its slabs are of 32 channels.
using Wide = TileTraits<128, 64, 4, false>;
using Narrow = TileTraits<64, 64, 4, false>;
using Split = TileTraits<64, 64, 4, true>;
using FlatWide = TileTraits<128, 32, 2, false>;
using FlatNarrow = TileTraits<64, 32, 2, false>;
using FlatSplit = TileTraits<64, 32, 2, true>;

// Calls `use` with the traits that a plan asks for.
template <typename Use>
cudaError_t with_traits(bool flat, bool split, int channels, Use use) {
  if (flat) {
    if (split) return use(FlatSplit{});
    return channels == 128 ? use(FlatWide{}) : use(FlatNarrow{});
  }
  if (split) return use(Split{});
  return channels == 128 ? use(Wide{}) : use(Narrow{});
}

}  // namespace

bool tile_is_flat(int frequency) { return frequency % 4 != 0; }

cudaError_t plan_conv_tile(TilePlan* plan, const ConvArgs& args, bool split, bool narrow,
                           int multiprocessors) {
  const int channels = split || narrow || args.cout % 128 != 0 ? 64 : 128;
  if (args.cin % 64 != 0 || args.cout % 64 != 0 || args.cout > 512 || !args.relu ||
      args.in_f != args.out_f || args.in_t != args.out_t)
    return cudaErrorNotSupported;
  const int parts = split ? 2 : 1;
  const HalfMap in{const_cast<__half*>(args.input), args.cin * parts, args.in_t, args.in_f,
                   args.items};
  const HalfMap out{args.output, args.cout * parts, args.out_t, args.out_f, args.items};
  const HalfMap residual{const_cast<__half*>(args.residual), out.channels, out.time, out.frequency,
                         out.items};
  plan->flat = tile_is_flat(args.out_f);
  return with_traits(plan->flat, split, channels, [&]<typename T>(T) {
    cudaError_t error = make_tensor_map(&plan->input, in, {T::kSlab, T::kHaloT, T::kHaloF});
    if (error == cudaSuccess) error = make_tensor_map(&plan->output, out, {64, kPixelRow});
    if (error == cudaSuccess && args.residual != nullptr)
      error = make_tensor_map(&plan->residual, residual, {64, kPixelRow});
    if (error != cudaSuccess) return error;
    plan->weights = args.weights;
    plan->bias = args.bias;
    plan->unscale = args.unscale;
    plan->slabs = args.cin / T::kSlab;
    plan->cin = args.cin;
    plan->cout = args.cout;
    plan->tiles_t = (args.out_t + T::kTileT - 1) / T::kTileT;
    plan->tiles_f = (args.out_f + T::kTileF - 1) / T::kTileF;
    plan->tiles_c = args.cout / channels;
    plan->items = args.items;
    plan->has_residual = args.residual != nullptr;
    plan->split = split;
    plan->tile_channels = channels;
    const int tiles = plan->tiles_t * plan->tiles_f * plan->tiles_c * plan->items;
    plan->grid = tiles < multiprocessors ? tiles : multiprocessors;
    plan->range = args.range;
    return cudaSuccess;
  });
}

cudaError_t launch_conv_tile(const TilePlan& plan, cudaStream_t stream) {
  return with_traits(plan.flat, plan.split, plan.tile_channels,
                     [&]<typename T>(T) { return launch<T>(plan, stream); });
}

cudaError_t prepare_conv_tile() {
  for (const cudaError_t error : {prepare<Wide>(), prepare<Narrow>(), prepare<Split>(),
                                  prepare<FlatWide>(), prepare<FlatNarrow>(), prepare<FlatSplit>()})
    if (error != cudaSuccess) return error;
  return cudaSuccess;
}

}  // namespace diarist::backend::cuda::hopper
