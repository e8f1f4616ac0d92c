#pragma once
// Networks on the CPU: own vector kernels, one source for all instruction sets, chosen at run time.

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cpu/targets.hpp"

namespace diarist::backend::cpu {

/// \param threads worker threads; 0: all usable processors. Never changes a result.
/// \param target instruction set to force, e.g. "AVX2"; empty: $DIARIST_CPU_TARGET if set, else the
///   best that this machine has. Results of different sets differ by rounding.
/// \throws Error kInvalidArgument (negative threads, unknown set), kUnsupported (a set that this
///   build or machine lacks).
std::unique_ptr<Backend> make_cpu_backend(int threads, const std::string& target = "");

}  // namespace diarist::backend::cpu
