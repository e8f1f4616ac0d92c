// Every sum is of the same two samples wherever its window lies, so its bits are the same, too.

#include "backend/cpu/kernels/mirror.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/mirror.cpp"
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

HWY_INLINE void fold_vector(const float* x, int taps, int k, float* sums, float* differences) {
  const D d;
  const V front = hn::LoadU(d, x + k);
  const V back = hn::Reverse(d, hn::LoadU(d, x + taps - k - kLanes));
  hn::StoreU(hn::Add(front, back), d, sums + k);
  hn::StoreU(hn::Sub(front, back), d, differences + k);
}

void fold(const float* samples, std::int64_t stride, std::int64_t windows, int taps,
          std::int64_t row, float* sums, float* differences) {
  const int half = taps / 2;
  for (std::int64_t window = 0; window < windows; ++window) {
    const float* x = samples + window * stride;
    int k = 0;
    for (; k + kLanes <= half; k += kLanes) fold_vector(x, taps, k, sums, differences);
    if (half >= kLanes && k < half) {
      fold_vector(x, taps, half - kLanes, sums, differences);  // some of them once more
      k = half;
    }
    for (; k < half; ++k) {
      sums[k] = x[k] + x[taps - 1 - k];
      differences[k] = x[k] - x[taps - 1 - k];
    }
    if (taps % 2 == 1) sums[half] = x[half];
    sums += row;
    differences += row;
  }
}

const MirrorKernels* mirror_table() {
  static constexpr MirrorKernels kTable{HWY_TARGET, &fold};
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace diarist::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace diarist::backend::cpu {

HWY_EXPORT(mirror_table);

const MirrorKernels& mirror_kernels(std::int64_t target) {
  return *DIARIST_CPU_DISPATCH(mirror_table, target);
}

}  // namespace diarist::backend::cpu
#endif
