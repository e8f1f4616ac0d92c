// Gates of one group of units lie in four consecutive vectors, so a cell is done in registers.

#include "backend/cpu/kernels/lstm_cell.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/lstm_cell.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backend/cpu/kernels/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace diarist::backend::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

/// exp(x), relative error about 1e-7; x is clamped to where the result is a normal float.
HWY_INLINE V exponential(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  x = hn::Max(hn::Min(x, hn::Set(d, 87.0F)), hn::Set(d, -87.0F));
  const auto n = hn::NearestInt(hn::Mul(x, hn::Set(d, 1.44269504F)));
  const V whole = hn::ConvertTo(d, n);
  // ln 2 in two parts: the first has few enough bits that whole * part is exact.
  V r = hn::MulAdd(whole, hn::Set(d, -0.693359375F), x);
  r = hn::MulAdd(whole, hn::Set(d, 2.12194440e-4F), r);
  // Taylor to the seventh power on |r| <= 0.347: truncation below 6e-9.
  V p = hn::Set(d, 1.0F / 5040);
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 720));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 120));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 24));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 6));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  const auto power = hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127)));
  return hn::Mul(p, hn::BitCast(d, power));
}

HWY_INLINE V sigmoid_of(V x) {
  const V one = hn::Set(D(), 1.0F);
  return hn::Div(one, hn::Add(one, exponential(hn::Neg(x))));
}

/// 1 - 2 / (exp(2x) + 1). Near zero the absolute error stays near the rounding of 1.
HWY_INLINE V tanh_of(V x) {
  const D d;
  const V e = exponential(hn::Add(x, x));
  const V one = hn::Set(d, 1.0F);
  return hn::Sub(one, hn::Div(hn::Set(d, 2.0F), hn::Add(e, one)));
}

void cells(const float* gates, int windows, int units, float* state, float* hidden) {
  const D d;
  for (int w = 0; w < windows; ++w) {
    const float* g = gates + static_cast<std::int64_t>(w) * 4 * units;
    for (int u = 0; u < units; u += kLanes) {
      const std::int64_t at = static_cast<std::int64_t>(w) * units + u;
      const float* four = g + 4 * u;
      const V in = sigmoid_of(hn::LoadU(d, four));
      const V forget = sigmoid_of(hn::LoadU(d, four + kLanes));
      const V candidate = tanh_of(hn::LoadU(d, four + 2 * kLanes));
      const V out = sigmoid_of(hn::LoadU(d, four + 3 * kLanes));
      const V c = hn::MulAdd(forget, hn::LoadU(d, state + at), hn::Mul(in, candidate));
      hn::StoreU(c, d, state + at);
      hn::StoreU(hn::Mul(out, tanh_of(c)), d, hidden + at);
    }
  }
}

template <typename Function>
HWY_INLINE void in_place(float* values, int count, Function&& function) {
  const D d;
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(function(hn::LoadU(d, values + i)), d, values + i);
  }
  if (i == count) return;
  float part[kLanes] = {};
  for (int j = i; j < count; ++j) part[j - i] = values[j];
  hn::StoreU(function(hn::LoadU(d, part)), d, part);
  for (int j = i; j < count; ++j) values[j] = part[j - i];
}

void sigmoid(float* values, int count) {
  in_place(values, count, [](V x) HWY_ATTR { return sigmoid_of(x); });
}

void tanh(float* values, int count) {
  in_place(values, count, [](V x) HWY_ATTR { return tanh_of(x); });
}

const LstmKernels* lstm_table() {
  static constexpr LstmKernels kTable{HWY_TARGET, &cells, &sigmoid, &tanh, kLanes};
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace diarist::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace diarist::backend::cpu {

HWY_EXPORT(lstm_table);

const LstmKernels& lstm_kernels(std::int64_t target) {
  return *DIARIST_CPU_DISPATCH(lstm_table, target);
}

}  // namespace diarist::backend::cpu
#endif
