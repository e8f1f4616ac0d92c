#include "fma_peak.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fma_peak.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <time.h>

#include <algorithm>
#include <map>

#include "backend/cpu/kernels/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace diarist::bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

std::int64_t chains(std::int64_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  constexpr int kChains = 24;
#else
  constexpr int kChains = 10;
#endif
  using V = hn::Vec<decltype(d)>;
  V sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = hn::Set(d, static_cast<float>(c));
  const V a = hn::Set(d, *sink);
  const V b = hn::Set(d, 0.999F);
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 24
    for (int c = 0; c < kChains; ++c) sum[c] = hn::MulAdd(sum[c], b, a);
  }
  V total = sum[0];
  for (int c = 1; c < kChains; ++c) total = hn::Add(total, sum[c]);
  *sink = hn::GetLane(total) * 1e-9F;
  return rounds * kChains * 2 * static_cast<std::int64_t>(hn::Lanes(d));
}

using Chains = std::int64_t (*)(std::int64_t, float*);
Chains chains_table() { return &chains; }

}  // namespace HWY_NAMESPACE
}  // namespace diarist::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace diarist::bench {

HWY_EXPORT(chains_table);

namespace {

/// Processor time of this thread: what others do on a busy machine should not count.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

std::int64_t run_fma_chains(std::int64_t target, std::int64_t rounds, float* sink) {
  return DIARIST_CPU_DISPATCH(chains_table, target)(rounds, sink);
}

double fma_peak(std::int64_t target) {
  static std::map<std::int64_t, double> known;
  if (const auto found = known.find(target); found != known.end()) return found->second;
  double best = 0;
  float sink = 0.5F;
  for (int i = 0; i < 40; ++i) {  // long enough to meet a quiet moment
    const double start = thread_seconds();
    const std::int64_t flop = run_fma_chains(target, 300000, &sink);
    best = std::max(best, static_cast<double>(flop) / (thread_seconds() - start) * 1e-9);
  }
  return known[target] = best;
}

}  // namespace diarist::bench
#endif
