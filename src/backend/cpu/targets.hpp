#pragma once
// Instruction sets by name, as Highway gives them ("AVX3", "AVX2", "SSE4", ...).

#include <cstdint>
#include <string>
#include <vector>

#include "backend/cpu/kernels/bf16.hpp"

namespace diarist::backend::cpu {

/// Sets in this build, best first.
std::vector<std::string> cpu_targets_compiled();
/// Those of them that this machine has, best first. Never empty.
std::vector<std::string> cpu_targets_supported();

/// Highway's bit of the set to use: the named one, or the best when the name is empty.
/// \throws Error kInvalidArgument (unknown name), kUnsupported (not in this build or machine).
std::int64_t choose_target(const std::string& name);

std::string target_name(std::int64_t target);

/// Instructions for bf16 products ("AMX_BF16", "AVX512_BF16"), best first, that this machine has
/// and this process may use. They belong to the best instruction set; often there are none.
std::vector<std::string> cpu_bf16_supported();

/// What `--cpu-target` asks for: an instruction set, and behind a plus the instruction for bf16
/// products, each of which may be left out. "AVX2", "AVX3+AVX512_BF16", "+AMX_BF16", "".
struct TargetChoice {
  std::int64_t target = 0;            // Highway's bit
  const Bf16Kernels* bf16 = nullptr;  // null: this set has none here
};

/// \throws Error as choose_target(), for both parts.
TargetChoice choose_kernels(const std::string& name);

/// The bf16 products of a choice. \throws Error kUnsupported where there are none: says what the
/// machine lacks.
const Bf16Kernels& need_bf16(const TargetChoice& choice);

}  // namespace diarist::backend::cpu
