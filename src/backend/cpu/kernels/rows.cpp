// Vectors lie along the columns, so every column is one chain of operations over its rows in order.

#include "backend/cpu/kernels/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backend/cpu/kernels/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace diarist::backend::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using D64 = hn::ScalableTag<double>;
using V64 = hn::Vec<D64>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kLanes64 = static_cast<int>(hn::MaxLanes(D64()));

HWY_INLINE V64 load64(const float* from) {
  return hn::PromoteTo(D64(), hn::LoadU(hn::Rebind<float, D64>(), from));
}

/// The first n floats; the other lanes are 0. Never reads past them.
HWY_INLINE V load_part(const float* from, int n) {
  if (n >= kLanes) return hn::LoadU(D(), from);
  float part[kLanes] = {};
  for (int i = 0; i < n; ++i) part[i] = from[i];
  return hn::LoadU(D(), part);
}

HWY_INLINE void store_part(V x, float* to, int n) {
  if (n >= kLanes) {
    hn::StoreU(x, D(), to);
    return;
  }
  float part[kLanes];
  hn::StoreU(x, D(), part);
  for (int i = 0; i < n; ++i) to[i] = part[i];
}

HWY_INLINE V activate(V x, model::Activation activation) {
  const D d;
  const V zero = hn::Zero(d);
  if (activation == model::Activation::kRelu) return hn::Max(x, zero);
  if (activation == model::Activation::kLeakyRelu) {
    return hn::IfThenElse(hn::Ge(x, zero), x, hn::Mul(x, hn::Set(d, 0.01F)));
  }
  return x;
}

/// N vectors of columns at once, so that a row's cache line is used while it is there.
template <int N>
void strip_moments(const RowsIn& rows, int column, const float* weights, double divisor,
                   double* mean, double* squares) {
  const D64 d;
  const float* const base = rows.data + column;
  V64 sum[N];
  for (int n = 0; n < N; ++n) sum[n] = hn::Zero(d);
  for (std::int64_t r = 0; r < rows.count; ++r) {
    if (weights != nullptr && weights[r] == 0.0F) continue;
    const V64 w = hn::Set(d, weights != nullptr ? static_cast<double>(weights[r]) : 1.0);
    for (int n = 0; n < N; ++n) {
      sum[n] = hn::MulAdd(w, load64(base + r * rows.stride + n * kLanes64), sum[n]);
    }
  }
  V64 centre[N];
  for (int n = 0; n < N; ++n) {
    centre[n] = hn::Div(sum[n], hn::Set(d, divisor));
    hn::StoreU(centre[n], d, mean + column + n * kLanes64);
    sum[n] = hn::Zero(d);
  }
  if (squares == nullptr) return;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    if (weights != nullptr && weights[r] == 0.0F) continue;
    const V64 w = hn::Set(d, weights != nullptr ? static_cast<double>(weights[r]) : 1.0);
    for (int n = 0; n < N; ++n) {
      const V64 x = hn::Sub(load64(base + r * rows.stride + n * kLanes64), centre[n]);
      sum[n] = hn::MulAdd(hn::Mul(w, x), x, sum[n]);
    }
  }
  for (int n = 0; n < N; ++n) hn::StoreU(sum[n], d, squares + column + n * kLanes64);
}

/// One column of the rest that fills no vector.
void column_moments(const RowsIn& rows, int column, const float* weights, double divisor,
                    double* mean, double* squares) {
  const float* const base = rows.data + column;
  double sum = 0;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    if (weights != nullptr && weights[r] == 0.0F) continue;
    const double x = static_cast<double>(base[r * rows.stride]);
    sum += weights != nullptr ? static_cast<double>(weights[r]) * x : x;
  }
  mean[column] = sum / divisor;
  if (squares == nullptr) return;
  sum = 0;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    if (weights != nullptr && weights[r] == 0.0F) continue;
    const double x = static_cast<double>(base[r * rows.stride]) - mean[column];
    sum += weights != nullptr ? static_cast<double>(weights[r]) * x * x : x * x;
  }
  squares[column] = sum;
}

void moments(const RowsIn& rows, const float* weights, double divisor, double* mean,
             double* squares) {
  int column = 0;
  for (; column + 4 * kLanes64 <= rows.columns; column += 4 * kLanes64) {
    strip_moments<4>(rows, column, weights, divisor, mean, squares);
  }
  for (; column + kLanes64 <= rows.columns; column += kLanes64) {
    strip_moments<1>(rows, column, weights, divisor, mean, squares);
  }
  for (; column < rows.columns; ++column) {
    column_moments(rows, column, weights, divisor, mean, squares);
  }
}

/// Sum of (x - centre)^power over the signal, power 1 or 2; eight chains hide the latency.
template <int kPower>
double power_sum(const float* x, std::int64_t count, double centre) {
  const D64 d;
  constexpr int kChains = 8;
  const V64 middle = hn::Set(d, centre);
  V64 sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + kChains * kLanes64 <= count; i += kChains * kLanes64) {
    for (int c = 0; c < kChains; ++c) {
      const V64 y = hn::Sub(load64(x + i + c * kLanes64), middle);
      sum[c] = kPower == 1 ? hn::Add(sum[c], y) : hn::MulAdd(y, y, sum[c]);
    }
  }
  double parts[kChains * kLanes64];
  for (int c = 0; c < kChains; ++c) hn::StoreU(sum[c], d, parts + c * kLanes64);
  double total = 0;
  for (const double part : parts) total += part;
  for (; i < count; ++i) {
    const double y = static_cast<double>(x[i]) - centre;
    total += kPower == 1 ? y : y * y;
  }
  return total;
}

void signal_moments(const float* samples, std::int64_t count, double* mean, double* variance) {
  const double n = static_cast<double>(count);
  *mean = power_sum<1>(samples, count, 0.0) / n;
  *variance = power_sum<2>(samples, count, *mean) / n;
}

void normalize(float* rows, std::int64_t count, int columns, const float* mean, const float* scale,
               const float* offset, model::Activation activation) {
  for (int column = 0; column < columns; column += kLanes) {
    const int n = columns - column;
    const V m = load_part(mean + column, n);
    const V s = load_part(scale + column, n);
    const V o = load_part(offset + column, n);
    for (std::int64_t r = 0; r < count; ++r) {
      float* at = rows + r * columns + column;
      const V y = hn::MulAdd(hn::Sub(load_part(at, n), m), s, o);
      store_part(activate(y, activation), at, n);
    }
  }
}

void pool3(const float* rows, std::int64_t out_count, int columns, float* out) {
  for (std::int64_t r = 0; r < out_count; ++r) {
    const float* in = rows + 3 * r * columns;
    for (int column = 0; column < columns; column += kLanes) {
      const int n = columns - column;
      const V a = load_part(in + column, n);
      const V b = load_part(in + columns + column, n);
      const V c = load_part(in + 2 * columns + column, n);
      store_part(hn::Max(hn::Max(a, b), c), out + r * columns + column, n);
    }
  }
}

void pool3_affine(const float* rows, std::int64_t out_count, int columns, const float* shift,
                  float scale, const float* offset, float* out) {
  const V s = hn::Set(D(), scale);
  for (std::int64_t r = 0; r < out_count; ++r) {
    const float* in = rows + 3 * r * columns;
    for (int column = 0; column < columns; column += kLanes) {
      const int n = columns - column;
      const V m = load_part(shift + column, n);
      const V o = load_part(offset + column, n);
      const auto part = [&](int i) HWY_ATTR {
        const V x = load_part(in + i * columns + column, n);
        return hn::Abs(hn::MulAdd(hn::Sub(x, m), s, o));
      };
      store_part(hn::Max(hn::Max(part(0), part(1)), part(2)), out + r * columns + column, n);
    }
  }
}

void scaled_relu(const RowsIn& rows, const float* scale, const float* offset, float* out,
                 std::int64_t out_stride) {
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const float* in = rows.data + r * rows.stride;
    float* to = out + r * out_stride;
    for (int column = 0; column < rows.columns; column += kLanes) {
      const int n = rows.columns - column;
      const V y = hn::MulAdd(load_part(in + column, n), load_part(scale + column, n),
                             load_part(offset + column, n));
      store_part(hn::Max(y, hn::Zero(D())), to + column, n);
    }
  }
}

const RowKernels* row_table() {
  static constexpr RowKernels kTable{HWY_TARGET, &moments,      &signal_moments, &normalize,
                                     &pool3,     &pool3_affine, &scaled_relu};
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace diarist::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace diarist::backend::cpu {

HWY_EXPORT(row_table);

const RowKernels& row_kernels(std::int64_t target) {
  return *DIARIST_CPU_DISPATCH(row_table, target);
}

}  // namespace diarist::backend::cpu
#endif
