// Y = A' [ (G g G') * (B' d B) ] A per tile and pair of channels; the sum over input channels is 36
// matrix products. Interpolation points are 0, +-1/sqrt(2), +-sqrt(2) and infinity: their products
// of squares are 1, so few constants are needed, and rounding errors are a quarter of those of the
// usual 0, +-1, +-2 (about twice those of the direct form).
//
// Tiles are taken in groups whose transformed numbers stay in the second-level cache: inputs of the
// group are transformed, then every point is a product [tiles, in] x [in, out], then outputs are
// transformed back with bias, residual and ReLU on their way to memory.

#include "backend/cpu/kernels/winograd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/winograd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "backend/cpu/kernels/dispatch.hpp"
#include "backend/cpu/kernels/register_tile.hpp"

HWY_BEFORE_NAMESPACE();
namespace diarist::backend::cpu {
namespace HWY_NAMESPACE {

constexpr int kEdge = kWinogradTile + 2;  // inputs of a tile along either axis
constexpr float kNear = 0.70710678F;      // points +-a
constexpr float kFar = 1.41421356F;       // points +-b
// Rows of the matrices of neighbouring points would fight for the same cache lines without it.
constexpr std::int64_t kSkew = 16;

/// Tiles of a group; never changes a result.
int group_tiles(int in, int out) {
  // Weights that stay in the second-level cache leave room there for 256 kB of transformed numbers.
  // Others are read once per group, from farther away the more there are, so groups grow with them.
  constexpr std::int64_t kFloats = 64 * 1024;
  constexpr std::int64_t kCachedWeights = 256 * 1024;
  const std::int64_t weights = std::int64_t{kWinogradPoints} * in * out;
  const std::int64_t tiles =
      weights <= kCachedWeights ? kFloats / (kWinogradPoints * (in + out)) : (in + out) * 7 / 32;
  return static_cast<int>(std::max<std::int64_t>(tiles / kRows, 1)) * kRows;
}

/// B' along one axis.
HWY_INLINE void forward(const V (&d)[kEdge], V (&r)[kEdge]) {
  const D tag;
  const V two_and_half = hn::Set(tag, 2.5F);
  const V half = hn::Set(tag, 0.5F);
  const V two = hn::Set(tag, 2.0F);
  const V near_even = hn::NegMulAdd(two, d[2], d[4]);
  const V near_odd = hn::Mul(hn::Set(tag, kNear), hn::NegMulAdd(two, d[1], d[3]));
  const V far_even = hn::NegMulAdd(half, d[2], d[4]);
  const V far_odd = hn::Mul(hn::Set(tag, kFar), hn::NegMulAdd(half, d[1], d[3]));
  r[0] = hn::Add(hn::NegMulAdd(two_and_half, d[2], d[4]), d[0]);
  r[1] = hn::Add(near_even, near_odd);
  r[2] = hn::Sub(near_even, near_odd);
  r[3] = hn::Add(far_even, far_odd);
  r[4] = hn::Sub(far_even, far_odd);
  r[5] = hn::Add(hn::NegMulAdd(two_and_half, d[3], d[5]), d[1]);
}

/// A' along one axis.
HWY_INLINE void backward(const V (&m)[kEdge], V (&y)[kWinogradTile]) {
  const D tag;
  const V near_even = hn::Add(m[1], m[2]);
  const V near_odd = hn::Mul(hn::Set(tag, kNear), hn::Sub(m[1], m[2]));
  const V far_even = hn::Add(m[3], m[4]);
  const V far_odd = hn::Mul(hn::Set(tag, kFar), hn::Sub(m[3], m[4]));
  const V half = hn::Set(tag, 0.5F);
  const V two = hn::Set(tag, 2.0F);
  y[0] = hn::Add(hn::Add(near_even, far_even), m[0]);
  y[1] = hn::Add(near_odd, far_odd);
  y[2] = hn::MulAdd(two, far_even, hn::Mul(half, near_even));
  y[3] = hn::Add(hn::MulAdd(two, far_odd, hn::Mul(half, near_odd)), m[5]);
}

/// Six rows of six columns of all channels, and where their 36 factors go.
void transform_input(const float* const (&rows)[kEdge], int channels, std::int64_t point_stride,
                     float* to) {
  const D tag;
  for (int c = 0; c < channels; c += kLanes) {
    V across[kEdge][kEdge];
#pragma GCC unroll 6
    for (int j = 0; j < kEdge; ++j) {
      V d[kEdge];
      V r[kEdge];
#pragma GCC unroll 6
      for (int i = 0; i < kEdge; ++i) d[i] = hn::LoadU(tag, rows[i] + j * channels + c);
      forward(d, r);
#pragma GCC unroll 6
      for (int i = 0; i < kEdge; ++i) across[i][j] = r[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < kEdge; ++i) {
      V r[kEdge];
      forward(across[i], r);
#pragma GCC unroll 6
      for (int j = 0; j < kEdge; ++j) hn::Store(r[j], tag, to + (i * kEdge + j) * point_stride + c);
    }
  }
}

/// Maps of few channels are larger than the caches: asks for what the tile after the next will
/// read.
HWY_INLINE void fetch(const float* from, std::int64_t floats) {
  for (std::int64_t i = 0; i < floats; i += kLineFloats) __builtin_prefetch(from + i, 0, 2);
}
constexpr int kTilesAhead = 2;

/// What a tile needs that reaches over an edge of the map.
struct Border {
  float* zeros;  // [6][channels]
  float* copy;   // [6][6][channels]
};

void gather_tile(const Winograd& w, std::int64_t tile, std::int64_t tiles_t, const Border& border,
                 std::int64_t point_stride, float* to) {
  const std::int64_t top = tile / tiles_t * kWinogradTile - 1;
  const std::int64_t left = tile % tiles_t * kWinogradTile;  // counts the zero column in front
  const std::int64_t width = w.time + 2;
  const float* rows[kEdge];
  for (int i = 0; i < kEdge; ++i) {
    const std::int64_t f = top + i;
    const bool inside = f >= 0 && f < w.frequency;
    rows[i] = inside ? w.map + (f * width + left) * w.in : border.zeros;
    if (inside) fetch(rows[i] + (kTilesAhead * kWinogradTile + 2) * w.in, kWinogradTile * w.in);
  }
  const std::int64_t columns = std::min<std::int64_t>(kEdge, width - left);
  if (columns < kEdge) {
    const std::int64_t row_floats = static_cast<std::int64_t>(kEdge) * w.in;
    std::memset(border.copy, 0, sizeof(float) * static_cast<std::size_t>(kEdge * row_floats));
    for (int i = 0; i < kEdge; ++i) {
      std::copy_n(rows[i], columns * w.in, border.copy + i * row_floats);
      rows[i] = border.copy + i * row_floats;
    }
  }
  transform_input(rows, w.in, point_stride, to);
}

template <bool kWhole>
HWY_INLINE void scatter(const Winograd& w, const V (&y)[kWinogradTile], std::int64_t place, V bias,
                        std::int64_t valid) {
  const D tag;
#pragma GCC unroll 4
  for (int j = 0; j < kWinogradTile; ++j) {
    if (!kWhole && j >= valid) return;
    V x = hn::Add(y[j], bias);
    const std::int64_t at = place + static_cast<std::int64_t>(j) * w.out_channels;
    if (w.add != nullptr) x = hn::Add(x, hn::LoadU(tag, w.add + at));
    if (w.relu) x = hn::Max(x, hn::Zero(tag));
    hn::StoreU(x, tag, w.out + at);
  }
}

template <bool kWhole>
void transform_output(const Winograd& w, const float* sums, std::int64_t point_stride,
                      std::int64_t top, std::int64_t left) {
  const D tag;
  const std::int64_t rows = std::min<std::int64_t>(kWinogradTile, w.frequency - top);
  const std::int64_t valid = std::min<std::int64_t>(kWinogradTile, w.time - left);
  const std::int64_t row_floats = (w.time + 2) * w.out_channels;
  const std::int64_t corner = top * row_floats + (left + 1) * w.out_channels;
  for (int i = 0; kWhole && i < kWinogradTile; ++i) {
    const std::int64_t at = corner + i * row_floats + kTilesAhead * kWinogradTile * w.out_channels;
    fetch((w.add != nullptr ? w.add : w.out) + at, kWinogradTile * w.out_channels);
  }
  for (int c = 0; c < w.out_channels; c += kLanes) {
    V down[kWinogradTile][kEdge];
#pragma GCC unroll 6
    for (int j = 0; j < kEdge; ++j) {
      V m[kEdge];
      V y[kWinogradTile];
#pragma GCC unroll 6
      for (int i = 0; i < kEdge; ++i) {
        m[i] = hn::Load(tag, sums + (i * kEdge + j) * point_stride + c);
      }
      backward(m, y);
#pragma GCC unroll 4
      for (int i = 0; i < kWinogradTile; ++i) down[i][j] = y[i];
    }
    const V bias = hn::LoadU(tag, w.bias + c);
#pragma GCC unroll 4
    for (int i = 0; i < kWinogradTile; ++i) {
      if (!kWhole && i >= rows) break;
      V y[kWinogradTile];
      backward(down[i], y);
      scatter<kWhole>(w, y, corner + i * row_floats + c, bias, valid);
    }
  }
}

/// M rows x N vectors of one point's product; meanwhile weights from `ahead` on are fetched.
template <int M, int N>
HWY_NOINLINE void tile(const float* a, std::int64_t a_stride, const float* weights, int depth,
                       float* out, std::int64_t out_stride, const float* ahead) {
  const D tag;
  V sum[M][N];
#pragma GCC unroll 16
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) sum[m][n] = hn::Zero(tag);
  }
  multiply_add<M, N, true>(a, a_stride, weights, depth, sum, ahead);
#pragma GCC unroll 16
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) hn::Store(sum[m][n], tag, out + m * out_stride + n * kLanes);
  }
}

using Tile = void (*)(const float*, std::int64_t, const float*, int, float*, std::int64_t,
                      const float*);

template <int N, int... M>
constexpr std::array<Tile, sizeof...(M)> tiles_of(std::integer_sequence<int, M...>) {
  return {&tile<M + 1, N>...};
}

/// sums [count][out] = factors [count][in] * weights of the point.
void product(const Winograd& w, int point, const float* factors, int count, float* sums) {
  static constexpr auto kOne = tiles_of<1>(std::make_integer_sequence<int, kRows>());
  static constexpr auto kTwo = tiles_of<2>(std::make_integer_sequence<int, kRows>());
  const float* of_point = w.weights + static_cast<std::int64_t>(point) * w.in * w.out_channels;
  for (int c = 0; c < w.out_channels; c += kBlock) {
    const auto& table = w.out_channels - c <= kLanes ? kOne : kTwo;
    const float* weights = of_point + static_cast<std::int64_t>(c) * w.in;
    // The next block of weights follows in memory; every tile fetches `in` cache lines of it.
    const float* ahead = weights + static_cast<std::int64_t>(kBlock) * w.in;
    const float* const ahead_end = ahead + static_cast<std::int64_t>(kBlock) * w.in;
    for (int row = 0; row < count; row += kRows) {
      const auto rows = static_cast<std::size_t>(std::min(kRows, count - row));
      table[rows - 1](factors + static_cast<std::int64_t>(row) * w.in, w.in, weights, w.in,
                      sums + static_cast<std::int64_t>(row) * w.out_channels + c, w.out_channels,
                      ahead);
      ahead = std::min(ahead + static_cast<std::int64_t>(kLineFloats) * w.in, ahead_end);
    }
  }
}

void run(const Winograd& w) {
  const int group = group_tiles(w.in, w.out_channels);
  const std::int64_t factor_stride = static_cast<std::int64_t>(group) * w.in + kSkew;
  const std::int64_t sum_stride = static_cast<std::int64_t>(group) * w.out_channels + kSkew;
  float* factors = w.scratch;
  float* sums = factors + kWinogradPoints * factor_stride;
  const std::int64_t row_floats = static_cast<std::int64_t>(kEdge) * w.in;
  const Border border{sums + kWinogradPoints * sum_stride,
                      sums + kWinogradPoints * sum_stride + row_floats};
  std::fill_n(border.zeros, row_floats, 0.0F);

  const std::int64_t tiles_t = (w.time + kWinogradTile - 1) / kWinogradTile;
  const std::int64_t tiles_f = (w.frequency + kWinogradTile - 1) / kWinogradTile;
  const std::int64_t total = tiles_t * tiles_f;
  for (std::int64_t start = 0; start < total; start += group) {
    const int count = static_cast<int>(std::min<std::int64_t>(group, total - start));
    for (int p = 0; p < count; ++p) {
      gather_tile(w, start + p, tiles_t, border, factor_stride, factors + p * w.in);
    }
    for (int point = 0; point < kWinogradPoints; ++point) {
      product(w, point, factors + point * factor_stride, count, sums + point * sum_stride);
    }
    for (int p = 0; p < count; ++p) {
      const std::int64_t top = (start + p) / tiles_t * kWinogradTile;
      const std::int64_t left = (start + p) % tiles_t * kWinogradTile;
      const bool whole = top + kWinogradTile <= w.frequency && left + kWinogradTile <= w.time;
      const float* of_tile = sums + static_cast<std::int64_t>(p) * w.out_channels;
      (whole ? transform_output<true> : transform_output<false>)(w, of_tile, sum_stride, top, left);
    }
  }
}

std::int64_t scratch_floats(int in, int out) {
  return kWinogradPoints * (std::int64_t{group_tiles(in, out)} * (in + out) + 2 * kSkew) +
         static_cast<std::int64_t>(kEdge) * (kEdge + 1) * in;
}

const WinogradKernels* winograd_table() {
  static constexpr WinogradKernels kTable{HWY_TARGET, &run, &scratch_floats, kLanes, kBlock};
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace diarist::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cmath>

namespace diarist::backend::cpu {

HWY_EXPORT(winograd_table);

const WinogradKernels& winograd_kernels(std::int64_t target) {
  return *DIARIST_CPU_DISPATCH(winograd_table, target);
}

void winograd_factors(const float* kernel, double* factors) {
  // Row p of G: 1, p, p^2 over the product of the differences to the other points.
  const double a = std::sqrt(0.5);
  const double b = std::sqrt(2.0);
  const double of_near = -1.5;  // 2 a^2 (a^2 - b^2)
  const double of_far = 6.0;    // 2 b^2 (b^2 - a^2)
  const double g[6][3] = {{1, 0, 0},
                          {1 / of_near, a / of_near, 0.5 / of_near},
                          {1 / of_near, -a / of_near, 0.5 / of_near},
                          {1 / of_far, b / of_far, 2 / of_far},
                          {1 / of_far, -b / of_far, 2 / of_far},
                          {0, 0, 1}};
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      double sum = 0;
      for (int x = 0; x < 3; ++x) {
        for (int y = 0; y < 3; ++y) {
          sum += g[i][x] * static_cast<double>(kernel[3 * x + y]) * g[j][y];
        }
      }
      factors[6 * i + j] = sum;
    }
  }
}

}  // namespace diarist::backend::cpu
#endif
