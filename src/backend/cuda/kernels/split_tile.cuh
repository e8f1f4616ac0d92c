#pragma once
// Operands in split halves: a number is the sum of a high and a low half, and a product of two such
// numbers is high*high + high*low + low*high in one FP32 sum, which keeps FP32's accuracy.
//
// In shared memory an operand is a slab of 32 numbers along K: rows of 64 bytes, high halves of all
// rows, then low halves. The four 16-byte pieces of a row are permuted by two bits of the row's
// number, so that ldmatrix meets no bank twice.

#include "backend/cuda/kernels/mma.cuh"

namespace diarist::backend::cuda {

constexpr int kSlabDepth = 32;                 // numbers along K
constexpr int kSlabRowBytes = 2 * kSlabDepth;  // of one part

/// Byte offset of a 16-byte piece (0 to 3) in a slab.
__device__ __forceinline__ std::uint32_t slab_piece(int row, int piece) {
  return static_cast<std::uint32_t>(row * kSlabRowBytes + ((piece ^ ((row >> 1) & 3)) << 4));
}

/// Fragments of 16 rows x 16 deep as the first operand. `step`: 0 or 1, the half of the slab.
__device__ __forceinline__ void load_left(std::uint32_t slab, int row, int step,
                                          std::uint32_t (&a)[4]) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  load_matrices(slab + slab_piece(row + (lane & 15), 2 * step + (lane >> 4)), a);
}

/// Fragments of two times 8 columns x 16 deep as the second operand: b[0], b[1] of the first eight.
__device__ __forceinline__ void load_right(std::uint32_t slab, int column, int step,
                                           std::uint32_t (&b)[4]) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  load_matrices(
      slab + slab_piece(column + (lane & 7) + ((lane >> 4) << 3), 2 * step + ((lane >> 3) & 1)), b);
}

/// sum += rows x columns over one slab, for a warp's 16*kM rows and 16*kN columns. `left` and
/// `right` are the high parts, the low ones follow after the given bytes.
template <int kM, int kN>
__device__ __forceinline__ void add_split_slab(float (&sum)[kM][2 * kN][4], std::uint32_t left,
                                               std::uint32_t left_low, int row, std::uint32_t right,
                                               std::uint32_t right_low, int column) {
#pragma unroll
  for (int step = 0; step < kSlabDepth / 16; ++step) {
    std::uint32_t a[kM][4], high[kN][4];
#pragma unroll
    for (int m = 0; m < kM; ++m) load_left(left, row + 16 * m, step, a[m]);
#pragma unroll
    for (int n = 0; n < kN; ++n) load_right(right, column + 16 * n, step, high[n]);
    const auto multiply = [&](const std::uint32_t(&b)[kN][4]) {
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int n = 0; n < kN; ++n) {
          multiply_add(sum[m][2 * n], a[m], b[n][0], b[n][1]);
          multiply_add(sum[m][2 * n + 1], a[m], b[n][2], b[n][3]);
        }
    };
    multiply(high);
    {
      std::uint32_t low[kN][4];
#pragma unroll
      for (int n = 0; n < kN; ++n) load_right(right + right_low, column + 16 * n, step, low[n]);
      multiply(low);
    }
#pragma unroll
    for (int m = 0; m < kM; ++m) load_left(left + left_low, row + 16 * m, step, a[m]);
    multiply(high);
  }
}

/// Two numbers as a word of high halves and a word of what those miss.
__device__ __forceinline__ void split_pair(float x, float y, std::uint32_t& high,
                                           std::uint32_t& low) {
  high = packed_halves(x, y);
  const float2 kept = unpacked_halves(high);
  low = packed_halves(x - kept.x, y - kept.y);
}

}  // namespace diarist::backend::cuda
