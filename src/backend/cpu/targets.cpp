#include "backend/cpu/targets.hpp"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>

#include "base/error.hpp"

namespace diarist::backend::cpu {
namespace {

/// Bits of a mask, best (lowest) first. Highway may name bits that it has no name for here.
std::vector<std::int64_t> bits_of(std::int64_t mask) {
  std::vector<std::int64_t> bits;
  for (; mask != 0; mask &= mask - 1) bits.push_back(mask & -mask);
  return bits;
}

std::vector<std::int64_t> supported() { return bits_of(hwy::SupportedTargets() & HWY_TARGETS); }

std::vector<std::string> names_of(const std::vector<std::int64_t>& bits) {
  std::vector<std::string> names;
  for (const std::int64_t bit : bits) names.push_back(target_name(bit));
  return names;
}

bool is_known_name(const std::string& name) {
  for (int bit = 0; bit < 63; ++bit) {
    if (name != "Unknown" && name == hwy::TargetName(std::int64_t{1} << bit)) return true;
  }
  return false;
}

}  // namespace

std::string target_name(std::int64_t target) { return hwy::TargetName(target); }

std::vector<std::string> cpu_targets_compiled() { return names_of(bits_of(HWY_TARGETS)); }

std::vector<std::string> cpu_targets_supported() { return names_of(supported()); }

std::int64_t choose_target(const std::string& name) {
  const std::vector<std::int64_t> bits = supported();
  if (bits.empty()) {
    base::fail(ErrorCode::kUnsupported, "this processor lacks every instruction set of this build");
  }
  if (name.empty()) return bits.front();
  for (const std::int64_t bit : bits) {
    if (target_name(bit) == name) return bit;
  }
  const std::string usable = fmt::format("{}", fmt::join(names_of(bits), ", "));
  const std::vector<std::string> compiled = cpu_targets_compiled();
  if (std::ranges::find(compiled, name) != compiled.end()) {
    base::fail(ErrorCode::kUnsupported, "this processor has no {} instructions; it can run {}",
               name, usable);
  }
  if (is_known_name(name)) {
    base::fail(ErrorCode::kUnsupported, "this build has no {} kernels; it can run {}", name,
               usable);
  }
  base::fail(ErrorCode::kInvalidArgument,
             "unknown CPU instruction set '{}'; this machine can run {}", name, usable);
}

}  // namespace diarist::backend::cpu
