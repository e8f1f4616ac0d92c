#pragma once
// From an instruction set, given as Highway's bit, to the kernels compiled for it. Backends of
// different sets live in one process (the tests compare them), so Highway's own process-wide choice
// is not used.

#include <hwy/highway.h>

#include <cstdint>

namespace diarist::backend::cpu {

/// Index into a table of HWY_EXPORT. `target` must be one of the compiled sets.
inline std::size_t dispatch_index(std::int64_t target) {
  hwy::ChosenTarget chosen;
  chosen.Update(target);
  return chosen.GetIndex();
}

}  // namespace diarist::backend::cpu

/// Calls FUNCTION of the set `target`; it must have been exported with HWY_EXPORT in this file.
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
#define DIARIST_CPU_DISPATCH(FUNCTION, target) \
  (static_cast<void>(target), HWY_STATIC_DISPATCH(FUNCTION)())
#else
#define DIARIST_CPU_DISPATCH(FUNCTION, target) \
  HWY_DISPATCH_TABLE(FUNCTION)[diarist::backend::cpu::dispatch_index(target)]()
#endif
