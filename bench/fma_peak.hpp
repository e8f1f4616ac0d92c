#pragma once
// The most multiply-adds that one core can do with one of Highway's instruction sets.

#include <cstdint>

namespace diarist::bench {

/// Runs 24 independent chains (10 where there are 16 registers) of `rounds` vector multiply-adds
/// and returns the floating-point operations done; `sink` keeps the compiler honest.
std::int64_t run_fma_chains(std::int64_t target, std::int64_t rounds, float* sink);

/// GFLOP/s of one core, measured once per set and kept.
double fma_peak(std::int64_t target);

}  // namespace diarist::bench
