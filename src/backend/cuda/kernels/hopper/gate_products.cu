// Input products of an LSTM layer with warpgroup products.
//
// A CTA owns 128 columns of one direction; their weights, both parts, lie in shared memory for the
// whole launch (128 KB at a depth of 256). The grid is persistent: the CTAs of one column tile
// share the tiles of 128 rows. Rows come by slabs of 64 along K, high and low part together,
// through a ring of three stages that warp 8 fills by tensor copies. Warpgroups 0 and 1 take tiles
// in turn: while one stores its tile, the other multiplies. A warpgroup enters the ring only when
// the other has seen its last slab arrive: a barrier's parity tells no more than one round. A sum
// runs over steps of 16 along K and, in each, over high*high, high*low, low*high, whatever stands
// beside it.

#include <cuda_fp16.h>

#include <algorithm>

#include "backend/cuda/kernels/hopper/gate_products.hpp"
#include "backend/cuda/kernels/hopper/product.cuh"
#include "backend/cuda/kernels/hopper/ptx.cuh"
#include "backend/cuda/kernels/hopper/tensor_map.hpp"

namespace diarist::backend::cuda::hopper {
namespace {

constexpr int kTile = 128, kSlab = 64, kRow = 2 * kSlab;  // bytes of a row's slab
constexpr int kPartBytes = kTile * kRow, kStageBytes = 2 * kPartBytes;
constexpr int kStages = 3;
constexpr int kMultiplyWarps = 8, kThreads = (kMultiplyWarps + 1) * 32;
constexpr int kColumnTiles = 2 * kGateColumns / kTile;  // of both directions

template <int kSlabs>
struct ProductTraits {
  static constexpr int kStagesAt = kSlabs * kStageBytes;
  static constexpr int kColumnsAt = kStagesAt + kStages * kStageBytes;  // scale, bias
  static constexpr int kBarriersAt = kColumnsAt + 2 * kTile * 4;
  static constexpr int kShared = kBarriersAt + (2 * kStages + 1) * 8 + 1024;
  static_assert(kShared <= 232448);
};

template <int kSlabs>
struct Shared {
  using T = ProductTraits<kSlabs>;
  std::uint32_t base;
  __device__ std::uint32_t weights(int slab) const { return base + slab * kStageBytes; }
  __device__ std::uint32_t stage(int i) const { return base + T::kStagesAt + i * kStageBytes; }
  __device__ std::uint32_t full(int i) const { return base + T::kBarriersAt + i * 8; }
  __device__ std::uint32_t free(int i) const { return full(kStages + i); }
  __device__ std::uint32_t weights_full() const { return full(2 * kStages); }
};

struct Cursor {
  int index = 0;
  std::uint32_t parity = 0;
  __device__ __forceinline__ void advance() {
    if (++index == kStages) {
      index = 0;
      parity ^= 1;
    }
  }
};

template <int kSlabs>
__device__ void copy_operands(const GateProductArgs& args, const CUtensorMap* rows,
                              const CUtensorMap* weights, const Shared<kSlabs>& shared,
                              int column_tile, int tiles) {
  constexpr int kDepth = kSlabs * kSlab;
  barrier_expect(shared.weights_full(), kSlabs * kStageBytes);
  for (int slab = 0; slab < kSlabs; ++slab)
    for (int part = 0; part < 2; ++part)
      load_box(shared.weights(slab) + part * kPartBytes, weights, shared.weights_full(),
               part * kDepth + slab * kSlab, column_tile * kTile, 0, 0);
  const std::int64_t first = column_tile < kColumnTiles / 2 ? args.first[0] : args.first[1];
  Cursor ring;
  for (int tile = static_cast<int>(blockIdx.x) / kColumnTiles; tile < tiles;
       tile += static_cast<int>(gridDim.x) / kColumnTiles) {
    const int row = static_cast<int>(first) + tile * kTile;
    for (int slab = 0; slab < kSlabs; ++slab) {
      barrier_wait(shared.free(ring.index), ring.parity ^ 1);
      barrier_expect(shared.full(ring.index), kStageBytes);
      for (int part = 0; part < 2; ++part)
        load_box(shared.stage(ring.index) + part * kPartBytes, rows, shared.full(ring.index),
                 part * kDepth + slab * kSlab, row, 0, 0);
      ring.advance();
    }
  }
}

// Whose tile it is. Warpgroup 0 begins.
class Turns {
 public:
  __device__ explicit Turns(int group) : group_(group) {
    if (group_ == 1) pass();
  }
  __device__ __forceinline__ void take() const { named_barrier(1 + group_, kThreads - 32); }
  __device__ __forceinline__ void pass() const {
    asm volatile("bar.arrive %0, %1;" ::"r"(2 - group_), "n"(kThreads - 32) : "memory");
  }

 private:
  int group_;
};

using TileSums = float[2][64];

// One slab's products: 64 rows twice.
__device__ __forceinline__ void multiply_slab(TileSums& sum, std::uint32_t rows,
                                              std::uint32_t weights, int keep) {
  const std::uint64_t high = operand<kRow>(rows), low = operand<kRow>(rows + kPartBytes);
  const std::uint64_t weight = operand<kRow>(weights);
  const std::uint64_t weight_low = operand<kRow>(weights + kPartBytes);
  constexpr std::uint64_t kHalf = (64 * kRow) >> 4;
#pragma unroll
  for (int k = 0; k < kSlab / 16; ++k) {
    const std::uint64_t at = k * 2;
    Product<kTile>::add(sum[0], high + at, weight + at, keep | k);
    Product<kTile>::add(sum[1], high + kHalf + at, weight + at, keep | k);
    Product<kTile>::add(sum[0], high + at, weight_low + at);
    Product<kTile>::add(sum[1], high + kHalf + at, weight_low + at);
    Product<kTile>::add(sum[0], low + at, weight + at);
    Product<kTile>::add(sum[1], low + kHalf + at, weight + at);
  }
}

template <int kSlabs>
__device__ void multiply(const GateProductArgs& args, const Shared<kSlabs>& shared,
                         const float* columns, int column_tile, int tiles, int group) {
  const int lane = static_cast<int>(threadIdx.x & 31),
            warp = static_cast<int>(threadIdx.x >> 5) & 3;
  const int step = static_cast<int>(gridDim.x) / kColumnTiles;
  const int direction = column_tile / (kColumnTiles / 2);
  float* const products = args.products +
                          static_cast<std::int64_t>(direction) * args.count * kGateColumns +
                          column_tile % (kColumnTiles / 2) * kTile + 2 * (lane & 3);
  TileSums sum;
  Cursor ring;
  int turn = 0;
  const Turns turns(group);
  barrier_wait(shared.weights_full(), 0);
  for (int tile = static_cast<int>(blockIdx.x) / kColumnTiles; tile < tiles;
       tile += step, turn ^= 1) {
    if (turn != group) {
#pragma unroll
      for (int slab = 0; slab < kSlabs; ++slab) ring.advance();
      continue;
    }
    turns.take();
    int last = -1;  // stage whose products may still run
#pragma unroll 1
    for (int slab = 0; slab < kSlabs; ++slab) {
      barrier_wait(shared.full(ring.index), ring.parity);
      products_begin();
      multiply_slab(sum, shared.stage(ring.index), shared.weights(slab), slab);
      products_commit();
      if (slab == kSlabs - 1) turns.pass();
      products_wait<1>();
      if (last >= 0 && lane == 0) barrier_arrive(shared.free(last));
      last = ring.index;
      ring.advance();
    }
    products_wait<0>();
    if (lane == 0) barrier_arrive(shared.free(last));
    const int first = tile * kTile + 16 * warp + (lane >> 2);
    float* const out = products + static_cast<std::int64_t>(first) * kGateColumns;
#pragma unroll
    for (int j = 0; j < kTile / 8; ++j) {
      const float2 scale = *reinterpret_cast<const float2*>(columns + 8 * j + 2 * (lane & 3));
      const float2 bias =
          *reinterpret_cast<const float2*>(columns + kTile + 8 * j + 2 * (lane & 3));
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          if (first + 64 * m + 8 * half < args.count)
            *reinterpret_cast<float2*>(out + (64 * m + 8 * half) * kGateColumns + 8 * j) =
                make_float2(fmaf(sum[m][4 * j + 2 * half], scale.x, bias.x),
                            fmaf(sum[m][4 * j + 2 * half + 1], scale.y, bias.y));
    }
  }
  if (turn == group) turns.take();  // nobody else collects the last one
}

template <int kSlabs>
__global__ void __launch_bounds__(kThreads, 1)
    gate_products(const __grid_constant__ GateProductArgs args,
                  const __grid_constant__ CUtensorMap rows,
                  const __grid_constant__ CUtensorMap weights) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using T = ProductTraits<kSlabs>;
  extern __shared__ std::uint8_t raw[];
  const Shared<kSlabs> shared{(shared_address(raw) + 1023) & ~1023U};
  float* const columns =
      reinterpret_cast<float*>(raw + (shared.base - shared_address(raw)) + T::kColumnsAt);
  const int warp = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x >> 5), 0);
  const int tiles = (args.count + kTile - 1) / kTile;
  const int column_tile = static_cast<int>(blockIdx.x) % kColumnTiles;
  if (threadIdx.x < kTile) {
    columns[threadIdx.x] = args.scale[column_tile * kTile + threadIdx.x];
    columns[kTile + threadIdx.x] = args.bias[column_tile * kTile + threadIdx.x];
  }
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      barrier_init(shared.full(i), 1);
      barrier_init(shared.free(i), kMultiplyWarps / 2);
    }
    barrier_init(shared.weights_full(), 1);
    fence_async();
  }
  __syncthreads();
  if (warp < kMultiplyWarps) {
    multiply<kSlabs>(args, shared, columns, column_tile, tiles, warp >> 2);
  } else if ((threadIdx.x & 31) == 0) {
    copy_operands<kSlabs>(args, &rows, &weights, shared, column_tile, tiles);
  }
#endif
}

template <int kSlabs>
cudaError_t prepare() {
  return cudaFuncSetAttribute(gate_products<kSlabs>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              ProductTraits<kSlabs>::kShared);
}

template <int kSlabs>
cudaError_t launch(const GateProductArgs& args, const CUtensorMap& rows, const CUtensorMap& weights,
                   int grid, cudaStream_t stream) {
  gate_products<kSlabs>
      <<<static_cast<unsigned>(grid), kThreads, ProductTraits<kSlabs>::kShared, stream>>>(
          args, rows, weights);
  return cudaGetLastError();
}

}  // namespace

cudaError_t map_split_rows(CUtensorMap* map, const __half* data, int depth, int count) {
  const HalfMap rows{const_cast<__half*>(data), 2 * depth, count, 1, 1};
  return make_tensor_map(map, rows, {kSlab, kTile});
}

cudaError_t launch_gate_products(const GateProductArgs& args, const CUtensorMap& rows,
                                 const CUtensorMap& weights, int multiprocessors,
                                 cudaStream_t stream) {
  if (args.count <= 0) return cudaSuccess;
  const int tiles = (args.count + kTile - 1) / kTile;
  const int shares = std::min(tiles, std::max(1, multiprocessors / kColumnTiles));
  const int grid = shares * kColumnTiles;
  if (args.depth == 256) return launch<4>(args, rows, weights, grid, stream);
  if (args.depth == 64) return launch<1>(args, rows, weights, grid, stream);
  return cudaErrorNotSupported;
}

cudaError_t prepare_gate_products() {
  const cudaError_t error = prepare<4>();
  return error != cudaSuccess ? error : prepare<1>();
}

}  // namespace diarist::backend::cuda::hopper
