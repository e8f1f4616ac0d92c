#pragma once
// Instruction sets by name, as Highway gives them ("AVX3", "AVX2", "SSE4", ...).

#include <cstdint>
#include <string>
#include <vector>

namespace diarist::backend::cpu {

/// Sets in this build, best first.
std::vector<std::string> cpu_targets_compiled();
/// Those of them that this machine has, best first. Never empty.
std::vector<std::string> cpu_targets_supported();

/// Highway's bit of the set to use: the named one, or the best when the name is empty.
/// \throws Error kInvalidArgument (unknown name), kUnsupported (not in this build or machine).
std::int64_t choose_target(const std::string& name);

std::string target_name(std::int64_t target);

}  // namespace diarist::backend::cpu
