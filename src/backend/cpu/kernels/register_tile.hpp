// The register tile that all products share. Included once per instruction set, inside of a file
// that Highway compiles again and again; so no #pragma once.

#if defined(DIARIST_CPU_REGISTER_TILE) == defined(HWY_TARGET_TOGGLE)
#ifdef DIARIST_CPU_REGISTER_TILE
#undef DIARIST_CPU_REGISTER_TILE
#else
#define DIARIST_CPU_REGISTER_TILE
#endif

#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace diarist::backend::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kBlock = 2 * kLanes;
constexpr int kLineFloats = 16;  // of a cache line

// Accumulators + weights + one broadcast fill the register file: 32 registers of AVX-512 and
// 64-bit Arm, 16 elsewhere.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr int kRows = 14;
#elif HWY_ARCH_ARM_A64
constexpr int kRows = 12;
#else
constexpr int kRows = 6;
#endif

/// sum[m][n] += a[m*stride + k] * w[k][n], k in order: load the weights of the block (one or two
/// vectors), broadcast one number per row, multiply and add. Weights are read from front to back.
/// With kAhead a cache line at `ahead` and behind is fetched to the second-level cache for every k.
template <int M, int N, bool kAhead = false>
HWY_INLINE void multiply_add(const float* rows, std::int64_t stride, const float* w, int depth,
                             V (&sum)[M][N], const float* ahead = nullptr) {
  const D d;
  // A pointer for every third row: with the stride in a register that reaches all rows.
  constexpr int kGroups = (M + 2) / 3;
  const float* a[kGroups];
#pragma GCC unroll 8
  for (int i = 0; i < kGroups; ++i) a[i] = rows + 3 * i * stride;
    // Four k at once: additions to pointers compete with multiply-adds for the same ports. Where a
    // multiply-add is two instructions its products need registers as well, and gcc would mix those
    // of all four and spill.
#if HWY_NATIVE_FMA
  constexpr int kUnroll = 4;
#else
  constexpr int kUnroll = 1;
#endif
  const auto step = [&](int k) HWY_ATTR {
    V weight[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) weight[n] = hn::LoadU(d, w + (k * N + n) * kLanes);
#pragma GCC unroll 16
    for (int m = 0; m < M; ++m) {
      const V x = hn::Set(d, a[m / 3][(m % 3) * stride + k]);
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) sum[m][n] = hn::MulAdd(x, weight[n], sum[m][n]);
    }
  };
  const auto advance = [&](int count) HWY_ATTR {
#pragma GCC unroll 8
    for (int i = 0; i < kGroups; ++i) a[i] += count;
    w += count * N * kLanes;
  };
  int k = 0;
  for (; k + kUnroll <= depth; k += kUnroll) {
#pragma GCC unroll 4
    for (int i = 0; i < kUnroll; ++i) {
      if constexpr (kAhead) __builtin_prefetch(ahead + i * kLineFloats, 0, 2);
      step(i);
    }
    if constexpr (kAhead) ahead += kUnroll * kLineFloats;
    advance(kUnroll);
  }
  for (; k < depth; ++k) {
    step(0);
    advance(1);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace diarist::backend::cpu
HWY_AFTER_NAMESPACE();

#endif
