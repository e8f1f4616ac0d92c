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

/// exp(x), relative error about 1e-7; x is clamped to +-limit, at most 87: the result stays a
/// normal float.
HWY_INLINE V exponential(V x, float limit = 87.0F) {
  const D d;
  const hn::RebindToSigned<D> di;
  x = hn::Max(hn::Min(x, hn::Set(d, limit)), hn::Set(d, -limit));
  // Added to 1.5 * 2^23, a number is rounded to an integer, which stands in the lowest bits.
  const V shift = hn::Set(d, 12582912.0F);
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504F), shift);
  const V whole = hn::Sub(shifted, shift);
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
  // Times 2^whole: the shift leaves nothing of 1.5 * 2^23 behind.
  const auto power = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), power));
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

/// Divisions are the dearest operations of a cell, so fractions are brought to one denominator: two
/// divisions instead of five. Arguments of exponentials are clamped to where the product of three
/// of them is a float; the functions are constant to 1e-12 beyond.
void cells(const float* gates, int windows, int units, float* state, float* hidden) {
  const D d;
  constexpr float kLimit = 28.0F;
  const V one = hn::Set(d, 1.0F);
  for (int w = 0; w < windows; ++w) {
    const float* g = gates + static_cast<std::int64_t>(w) * 4 * units;
    for (int u = 0; u < units; u += kLanes) {
      const std::int64_t at = static_cast<std::int64_t>(w) * units + u;
      const float* four = g + 4 * u;
      const V candidate = hn::LoadU(d, four + 2 * kLanes);
      const V of_in = hn::Add(one, exponential(hn::Neg(hn::LoadU(d, four)), kLimit));
      const V of_forget = hn::Add(one, exponential(hn::Neg(hn::LoadU(d, four + kLanes)), kLimit));
      const V of_out = hn::Add(one, exponential(hn::Neg(hn::LoadU(d, four + 3 * kLanes)), kLimit));
      const V e = exponential(hn::Add(candidate, candidate), kLimit);
      // c / of_forget + (e - 1) / ((e + 1) of_in)
      const V in_candidate = hn::Mul(of_in, hn::Add(e, one));
      const V kept = hn::Mul(hn::LoadU(d, state + at), in_candidate);
      const V c =
          hn::Div(hn::MulAdd(hn::Sub(e, one), of_forget, kept), hn::Mul(of_forget, in_candidate));
      hn::StoreU(c, d, state + at);
      const V of_state = exponential(hn::Add(c, c), kLimit);
      const V h = hn::Div(hn::Sub(of_state, one), hn::Mul(of_out, hn::Add(of_state, one)));
      hn::StoreU(h, d, hidden + at);
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
