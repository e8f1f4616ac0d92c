// A tile keeps 8 x 8 sums of a panel in registers, as many rows at a time as the register file
// holds: all 8 with vectors of 8 numbers, 4 with 4, 2 with 2. For every step of the inner dimension
// a vector of the panel meets one number of each row.

#include "cluster/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cluster/kernels.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace diarist::cluster {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kTile>;
using V = hn::Vec<D>;

constexpr std::size_t kLanes = hn::MaxLanes(D());
constexpr std::size_t kVectors = kTile / kLanes;
constexpr std::size_t kRows = kLanes >= 2 ? kLanes : 2;  // of one pass

struct Product {
  static HWY_INLINE V term(V left, V panel) { return hn::Mul(left, panel); }
};

struct SquaredDifference {
  static HWY_INLINE V term(V left, V panel) {
    const V difference = hn::Sub(panel, left);
    return hn::Mul(difference, difference);
  }
};

template <typename Term>
HWY_INLINE void add_pass(const double* const* rows, std::size_t step, const double* panel,
                         std::size_t inner, V (&sum)[kRows][kVectors]) {
  const D d;
  std::size_t at = 0;
  for (std::size_t k = 0; k < inner; ++k, at += step) {
    V column[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v)
      column[v] = hn::LoadU(d, panel + k * kTile + v * kLanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const V left = hn::Set(d, rows[r][at]);
      for (std::size_t v = 0; v < kVectors; ++v)
        sum[r][v] = hn::Add(sum[r][v], Term::term(left, column[v]));
    }
  }
}

void products(const TileRows& left, const double* panel, std::size_t inner, const TileSums& out) {
  const D d;
  for (std::size_t first = 0; first < kTile; first += kRows) {
    double* const to = out.data + first * out.stride;
    V sum[kRows][kVectors];
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t v = 0; v < kVectors; ++v)
        sum[r][v] = out.from_zero ? hn::Zero(d) : hn::LoadU(d, to + r * out.stride + v * kLanes);
    add_pass<Product>(left.rows + first, left.step, panel, inner, sum);
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t v = 0; v < kVectors; ++v)
        hn::StoreU(sum[r][v], d, to + r * out.stride + v * kLanes);
  }
}

void distances(const TileRows& left, const double* panel, std::size_t inner, double* out) {
  const D d;
  for (std::size_t first = 0; first < kTile; first += kRows) {
    V sum[kRows][kVectors];
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
    add_pass<SquaredDifference>(left.rows + first, left.step, panel, inner, sum);
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t v = 0; v < kVectors; ++v)
        hn::StoreU(hn::Sqrt(sum[r][v]), d, out + (first + r) * kTile + v * kLanes);
  }
}

void merged(const Union& both, const double* to_x, const double* to_y, std::size_t count,
            double* to_union) {
  const D d;
  const double total = both.size_x + both.size_y;
  const V shrink = hn::Set(d, (both.size_x * both.size_y * both.distance * both.distance) / total);
  const V size_x = hn::Set(d, both.size_x), size_y = hn::Set(d, both.size_y);
  const V size = hn::Set(d, total);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const V x = hn::LoadU(d, to_x + i), y = hn::LoadU(d, to_y + i);
    const V near = hn::Add(hn::Mul(hn::Mul(size_x, x), x), hn::Mul(hn::Mul(size_y, y), y));
    const V square = hn::Div(hn::Sub(near, shrink), size);
    const V clipped = hn::IfThenElse(hn::Lt(square, hn::Zero(d)), hn::Zero(d), square);
    hn::StoreU(hn::Sqrt(clipped), d, to_union + i);
  }
}

Minimum minimum(const double* values, const double* extra, std::size_t count) {
  const D d;
  constexpr double kNone = std::numeric_limits<double>::infinity();
  constexpr std::size_t kStrip = 4 * kLanes;
  const auto sum = [&](std::size_t i) HWY_ATTR {
    return hn::Add(hn::LoadU(d, values + i), hn::LoadU(d, extra + i));
  };
  const auto smaller = [](V a, V b) HWY_ATTR { return hn::IfThenElse(hn::Lt(a, b), a, b); };
  V least[4] = {hn::Set(d, kNone), hn::Set(d, kNone), hn::Set(d, kNone), hn::Set(d, kNone)};
  std::size_t i = 0;
  for (; i + kStrip <= count; i += kStrip)
    for (std::size_t v = 0; v < 4; ++v) least[v] = smaller(sum(i + v * kLanes), least[v]);
  const V all = smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
  double smallest = hn::GetLane(hn::MinOfLanes(d, all));
  for (; i < count; ++i)
    if (values[i] + extra[i] < smallest) smallest = values[i] + extra[i];
  if (!(smallest < kNone)) return {count, kNone};
  const V wanted = hn::Set(d, smallest);
  for (i = 0; i + kLanes <= count; i += kLanes) {
    const auto first = hn::FindFirstTrue(d, hn::Eq(sum(i), wanted));
    if (first < 0) continue;
    i += static_cast<std::size_t>(first);
    return {i, values[i]};
  }
  while (i + 1 < count && values[i] + extra[i] != smallest) ++i;
  return {i, values[i]};
}

// exp(x) = 2^n exp(r) with |r| at most half of ln 2; the series of exp(r) to its 13th power, whose
// rest is below 1e-17. Adding 1.5 * 2^52 leaves the rounded number in the low bits of the sum, and
// the high part of ln 2 has so few bits that its multiples are exact.
HWY_INLINE V exponential(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  const V magic = hn::Set(d, 6755399441055744.0);
  const V shifted = hn::Add(hn::Mul(x, hn::Set(d, 1.4426950408889634)), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::Sub(x, hn::Mul(n, hn::Set(d, 6.93147180369123816490e-01)));
  r = hn::Sub(r, hn::Mul(n, hn::Set(d, 1.90821492927058770002e-10)));
  constexpr double kSeries[] = {1.0 / 6227020800,
                                1.0 / 479001600,
                                1.0 / 39916800,
                                1.0 / 3628800,
                                1.0 / 362880,
                                1.0 / 40320,
                                1.0 / 5040,
                                1.0 / 720,
                                1.0 / 120,
                                1.0 / 24,
                                1.0 / 6,
                                0.5,
                                1.0,
                                1.0};
  V sum = hn::Set(d, kSeries[0]);
  for (std::size_t i = 1; i < std::size(kSeries); ++i)
    sum = hn::Add(hn::Mul(sum, r), hn::Set(d, kSeries[i]));
  const auto power = hn::Add(hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic)),
                             hn::Set(di, std::int64_t{1023}));
  const V scaled = hn::Mul(sum, hn::BitCast(d, hn::ShiftLeft<52>(power)));
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(d, -700.0)), scaled);
}

void exponents(const double* values, double shift, std::size_t count, double* out) {
  const D d;
  const V minus = hn::Set(d, shift);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    hn::StoreU(exponential(hn::Sub(hn::LoadU(d, values + i), minus)), d, out + i);
  if (i == count) return;
  double rest[kTile] = {};
  std::copy(values + i, values + count, rest);
  hn::StoreU(exponential(hn::Sub(hn::LoadU(d, rest), minus)), d, rest);
  std::copy(rest, rest + (count - i), out + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace diarist::cluster
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace diarist::cluster {

HWY_EXPORT(products);
HWY_EXPORT(distances);
HWY_EXPORT(merged);
HWY_EXPORT(minimum);
HWY_EXPORT(exponents);

void add_products(const TileRows& left, const double* panel, std::size_t inner,
                  const TileSums& sums) {
  HWY_DYNAMIC_DISPATCH(products)(left, panel, inner, sums);
}

void tile_distances(const TileRows& left, const double* panel, std::size_t inner,
                    double* distances) {
  HWY_DYNAMIC_DISPATCH(distances)(left, panel, inner, distances);
}

void merged_distances(const Union& merged, const double* to_x, const double* to_y,
                      std::size_t count, double* to_union) {
  HWY_DYNAMIC_DISPATCH(merged)(merged, to_x, to_y, count, to_union);
}

Minimum first_minimum(const double* values, const double* extra, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(minimum)(values, extra, count);
}

void exponentials(const double* values, double shift, std::size_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(exponents)(values, shift, count, out);
}

}  // namespace diarist::cluster
#endif  // HWY_ONCE
