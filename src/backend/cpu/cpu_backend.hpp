#pragma once
// Networks on the CPU: own vector kernels, one source for all instruction sets, chosen at run time.

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cpu/targets.hpp"

namespace diarist::backend::cpu {

/// \param threads worker threads; 0: all usable processors. Never changes a result.
/// \param target instruction set to force, e.g. "AVX2", or one with the instruction for bf16
/// products,
///   "AVX3+AVX512_BF16"; empty: $DIARIST_CPU_TARGET if set, else the best that this machine has.
///   Results of different sets differ by rounding.
///
/// Programs of Precision::kFast have bf16 products with FP32 sums in convolutions, dense layers and
/// dense TDNN blocks; compile() throws kUnsupported where the set has no instruction for them.
/// \throws Error kInvalidArgument (negative threads, unknown set), kUnsupported (a set that this
///   build or machine lacks).
std::unique_ptr<Backend> make_cpu_backend(int threads, const std::string& target = "");

}  // namespace diarist::backend::cpu
