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

std::vector<std::string> cpu_bf16_supported() {
  std::vector<std::string> names;
  for (const Bf16Kernels* kernels : bf16_kernels_supported()) names.emplace_back(kernels->name);
  return names;
}

TargetChoice choose_kernels(const std::string& name) {
  const std::size_t plus = name.find('+');
  TargetChoice choice{.target = choose_target(name.substr(0, plus))};
  const bool best = choice.target == supported().front();
  const std::vector<const Bf16Kernels*>& found = bf16_kernels_supported();
  if (plus == std::string::npos) {
    if (best && !found.empty()) choice.bf16 = found.front();
    return choice;
  }
  const std::string wanted = name.substr(plus + 1);
  if (!best) {
    base::fail(ErrorCode::kUnsupported, "{}: bf16 products go with {} only; leave out +{}", name,
               target_name(supported().front()), wanted);
  }
  for (const Bf16Kernels* kernels : found) {
    if (kernels->name == wanted) choice.bf16 = kernels;
  }
  if (choice.bf16 != nullptr) return choice;
  const std::vector<std::string> compiled = bf16_kernels_compiled();
  const std::string usable =
      found.empty() ? "none" : fmt::format("{}", fmt::join(cpu_bf16_supported(), ", "));
  if (std::ranges::find(compiled, wanted) != compiled.end()) {
    base::fail(ErrorCode::kUnsupported, "this machine has no bf16 products by {}; it has: {}",
               wanted, usable);
  }
  base::fail(ErrorCode::kInvalidArgument, "unknown bf16 products '{}'; this machine has: {}",
             wanted, usable);
}

const Bf16Kernels& need_bf16(const TargetChoice& choice) {
  if (choice.bf16 != nullptr) return *choice.bf16;
  if (bf16_kernels_supported().empty()) {
    base::fail(ErrorCode::kUnsupported,
               "cpu: --precision fast needs an instruction for bf16 products (AVX512_BF16 or "
               "AMX_BF16), which this processor or build lacks; use --precision exact");
  }
  base::fail(ErrorCode::kUnsupported,
             "cpu: the instruction set {} has no bf16 products; use --precision exact, or leave "
             "out --cpu-target (then {} does them)",
             target_name(choice.target), bf16_kernels_supported().front()->name);
}

}  // namespace diarist::backend::cpu
