// Kernel of gate_products.hpp.
//
// A CTA of eight warps makes 128 rows x 128 columns of one direction, a warp 64 x 32 of them. Slabs
// of 32 along K come through a ring of three stages; each brings both parts of both operands, which
// then serve all three products. 96 KB of shared memory and at most 128 registers, so that two CTAs
// share a multiprocessor and one stores while the other multiplies. Neighbouring CTAs take the
// four column tiles of the same rows. A sum runs over slabs, halves of a slab and the products
// high*high, high*low, low*high in this order, wherever its row stands.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/gate_products.hpp"
#include "backend/cuda/kernels/split_tile.cuh"

namespace diarist::backend::cuda {
namespace {

constexpr int kTile = 128, kStages = 3, kThreads = 256;
constexpr int kPartBytes = kTile * kSlabRowBytes;
constexpr int kStageBytes = 4 * kPartBytes;
static_assert(kStages * kStageBytes == kGateProductsShared);
constexpr int kColumnTiles = kGateColumns / kTile;

// What a thread copies of a slab: one piece of every 32nd row, high or low, of both operands.
class SlabCopier {
 public:
  __device__ SlabCopier(const GateProductArgs& args, int direction, int row0, int column0)
      : pitch_(2 * args.depth), left_(args.count - row0) {
    const int piece = static_cast<int>(threadIdx.x & 3), part = (threadIdx.x >> 2) & 1;
    row_ = static_cast<int>(threadIdx.x >> 3);
    const int column = part * args.depth + piece * 8;
    rows_ = args.rows + ((direction == 0 ? args.first[0] : args.first[1]) + row0 + row_) * pitch_ +
            column;
    weights_ = args.weights +
               (static_cast<std::int64_t>(direction) * kGateColumns + column0 + row_) * pitch_ +
               column;
    target_ = part * kPartBytes + slab_piece(row_, piece);
  }
  __device__ __forceinline__ void copy(std::uint32_t stage, int slab) const {
    const int at = slab * kSlabDepth;
#pragma unroll
    for (int i = 0; i < kTile / 32; ++i) {
      const bool valid = row_ + 32 * i < left_;
      // A row that is not there is not read, but its address must be one.
      const __half* source = rows_ + (valid ? static_cast<std::int64_t>(32 * i) * pitch_ : 0) + at;
      copy_16(stage + target_ + i * 32 * kSlabRowBytes, source, valid);
      copy_16(stage + 2 * kPartBytes + target_ + i * 32 * kSlabRowBytes,
              weights_ + static_cast<std::int64_t>(32 * i) * pitch_ + at, true);
    }
  }

 private:
  const __half* rows_;
  const __half* weights_;
  int pitch_, left_, row_;
  std::uint32_t target_;
};

__global__ void __launch_bounds__(kThreads, 2) gate_products(GateProductArgs args) {
  extern __shared__ __align__(128) std::uint8_t bytes[];
  const std::uint32_t base = shared_address(bytes);
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
  const int tile_columns = static_cast<int>(blockIdx.x) % (2 * kColumnTiles);
  const int direction = tile_columns / kColumnTiles;
  const int column0 = tile_columns % kColumnTiles * kTile;
  const int row0 = static_cast<int>(blockIdx.x) / (2 * kColumnTiles) * kTile;
  const SlabCopier copier(args, direction, row0, column0);
  const int slabs = args.depth / kSlabDepth;
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < slabs) copier.copy(base + s * kStageBytes, s);
    commit_copies();
  }
  const int row = (warp >> 2) * 64, column = (warp & 3) * 32;
  float sum[4][4][4] = {};
  int stage = 0;
#pragma unroll 1
  for (int slab = 0; slab < slabs; ++slab) {
    wait_copies<kStages - 2>();
    __syncthreads();
    const int ahead = slab + kStages - 1;
    if (ahead < slabs)
      copier.copy(base + (stage == 0 ? kStages - 1 : stage - 1) * kStageBytes, ahead);
    commit_copies();
    const std::uint32_t left = base + stage * kStageBytes;
    add_split_slab<4, 2>(sum, left, kPartBytes, row, left + 2 * kPartBytes, kPartBytes, column);
    stage = stage == kStages - 1 ? 0 : stage + 1;
  }
  const int first = row0 + row + (lane >> 2);
  float* const out = args.products +
                     (static_cast<std::int64_t>(direction) * args.count + first) * kGateColumns +
                     column0 + column + 2 * (lane & 3);
  const int last = direction * kGateColumns + column0 + column + 2 * (lane & 3);
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const float2 b = *reinterpret_cast<const float2*>(args.bias + last + 8 * n);
    const float2 scale = *reinterpret_cast<const float2*>(args.scale + last + 8 * n);
#pragma unroll
    for (int m = 0; m < 4; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        if (first + 16 * m + 8 * half < args.count)
          *reinterpret_cast<float2*>(out + (16 * m + 8 * half) * kGateColumns + 8 * n) =
              make_float2(fmaf(sum[m][n][2 * half], scale.x, b.x),
                          fmaf(sum[m][n][2 * half + 1], scale.y, b.y));
  }
}

}  // namespace

cudaError_t prepare_gate_products() {
  const cudaError_t error = cudaFuncSetAttribute(
      gate_products, cudaFuncAttributeMaxDynamicSharedMemorySize, kGateProductsShared);
  if (error != cudaErrorInvalidValue) return error;
  cudaGetLastError();
  return cudaErrorNotSupported;
}

cudaError_t launch_gate_products(const GateProductArgs& args, cudaStream_t stream) {
  if (args.depth < kSlabDepth || args.depth % kSlabDepth != 0) return cudaErrorNotSupported;
  if (args.count <= 0) return cudaSuccess;
  const int tiles = (args.count + kTile - 1) / kTile * 2 * kColumnTiles;
  gate_products<<<static_cast<unsigned>(tiles), kThreads, kGateProductsShared, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
