// Register tiles of kRows rows x 1 or 2 vectors of columns. For every k: load the weights of the
// block (one or two vectors), broadcast one number per row, multiply and add. Weights of a block
// are read from front to back; rows of A are read with the caller's stride, so a map or a matrix is
// used where it lies. Edges: fewer rows have tiles of their own, columns beyond the end have zero
// weights and are not stored.

#include "backend/cpu/kernels/gemm.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/gemm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/kernels/dispatch.hpp"
#include "backend/cpu/kernels/register_tile.hpp"

HWY_BEFORE_NAMESPACE();
namespace diarist::backend::cpu {
namespace HWY_NAMESPACE {

HWY_INLINE V activate(V x, model::Activation activation) {
  const D d;
  const V zero = hn::Zero(d);
  if (activation == model::Activation::kRelu) return hn::Max(x, zero);
  if (activation == model::Activation::kLeakyRelu) {
    return hn::IfThenElse(hn::Ge(x, zero), x, hn::Mul(x, hn::Set(d, 0.01F)));
  }
  return x;
}

/// What follows the sums of a tile: added numbers, activation, scale. Apart from the tile, so that
/// it exists once and not in every size. `sums` [rows][N vectors]. kWhole: all columns exist.
template <int N, bool kWhole>
HWY_NOINLINE void finish(const Gemm& g, const float* sums, int rows, std::int64_t row, int column) {
  const D d;
  const int valid = g.columns - column;
  for (int m = 0; m < rows; ++m) {
    for (int n = 0; n < N; ++n) {
      const int at = n * kLanes;
      const bool whole = kWhole || at + kLanes <= valid;
      const std::int64_t place = column + at;
      float edge[kLanes];
      const auto load = [&](const float* from) HWY_ATTR {
        if (whole) return hn::LoadU(d, from);
        for (int i = 0; i < kLanes; ++i) edge[i] = at + i < valid ? from[i] : 0.0F;
        return hn::LoadU(d, edge);
      };
      V y = hn::Load(d, sums + (m * N + n) * kLanes);
      if (g.add != nullptr) y = hn::Add(y, load(g.add + (row + m) * g.add_stride + place));
      y = activate(y, g.activation);
      if (g.scale != nullptr) y = hn::Mul(y, load(g.scale + place));
      float* to = g.out + (row + m) * g.out_stride + place;
      if (whole) {
        hn::StoreU(y, d, to);
      } else {
        hn::StoreU(y, d, edge);
        for (int i = 0; at + i < valid; ++i) to[i] = edge[i];
      }
    }
  }
}

/// One tile of M rows x N vectors. `row` and `column` are its place in the output; weights from
/// `ahead` on are fetched meanwhile, a cache line for every tap and k.
template <int M, int N>
HWY_NOINLINE void tile(const Gemm& g, const float* block, std::int64_t row, int column,
                       const float* ahead) {
  const D d;
  constexpr int kWidth = N * kLanes;
  V sum[M][N];
#pragma GCC unroll 16
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) sum[m][n] = hn::LoadU(d, g.bias + column + n * kLanes);
  }
  for (int t = 0; t < g.taps; ++t) {
    const int place = g.tap != nullptr ? g.tap[t] : t;
    const float* w = block + static_cast<std::int64_t>(place) * g.depth * kWidth;
    multiply_add<M, N, true>(g.a[t] + row * g.a_stride, g.a_stride, w, g.depth, sum, ahead);
    ahead += g.depth * kLineFloats;
  }
  HWY_ALIGN float sums[M * kWidth];
#pragma GCC unroll 16
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) hn::Store(sum[m][n], d, sums + (m * N + n) * kLanes);
  }
  const bool whole = column + kWidth <= g.columns;
  (whole ? finish<N, true> : finish<N, false>)(g, sums, M, row, column);
}

using Tile = void (*)(const Gemm&, const float*, std::int64_t, int, const float*);

template <int N, int... M>
constexpr std::array<Tile, sizeof...(M)> tiles(std::integer_sequence<int, M...>) {
  return {&tile<M + 1, N>...};
}

void run(const Gemm& g) {
  static constexpr auto kOne = tiles<1>(std::make_integer_sequence<int, kRows>());
  static constexpr auto kTwo = tiles<2>(std::make_integer_sequence<int, kRows>());
  const int blocks = (g.columns + kBlock - 1) / kBlock;
  const int last = g.last_block < 0 ? blocks : g.last_block;
  for (int b = g.first_block; b < last; ++b) {
    const int column = b * kBlock;
    const auto& table = g.columns - column <= kLanes ? kOne : kTwo;
    const float* weights = g.weights + static_cast<std::int64_t>(column) * g.all_taps * g.depth;
    // The next block of the weights follows in memory. It may have to come from far: it is on its
    // way while the tiles of this one are computed.
    const std::int64_t whole = static_cast<std::int64_t>(kBlock) * g.all_taps * g.depth;
    const float* ahead = b + 1 < blocks || g.next == nullptr ? weights + whole : g.next;
    const float* const end = ahead + whole;
    for (std::int64_t row = 0; row < g.rows; row += kRows) {
      const auto rows = static_cast<std::size_t>(std::min<std::int64_t>(kRows, g.rows - row));
      table[rows - 1](g, weights, row, column, ahead);
      ahead = std::min(ahead + static_cast<std::int64_t>(kLineFloats) * g.taps * g.depth, end);
    }
  }
}

const GemmKernels* gemm_table() {
  static constexpr GemmKernels kTable{HWY_TARGET, &run, kLanes, kBlock, kRows};
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace diarist::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace diarist::backend::cpu {

HWY_EXPORT(gemm_table);

const GemmKernels& gemm_kernels(std::int64_t target) {
  return *DIARIST_CPU_DISPATCH(gemm_table, target);
}

}  // namespace diarist::backend::cpu
#endif
