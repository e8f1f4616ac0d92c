#pragma once
// Ragged items of a front end's launch. They travel as kernel arguments: no copy, nothing to wait
// for, and a recorded launch keeps them.

#include <cstdint>

namespace diarist::backend::cuda {

inline constexpr int kItemsPerLaunch = 128;

struct FrontItems {
  int count = 0;
  std::int32_t length[kItemsPerLaunch] = {};  // samples
  std::int64_t input[kItemsPerLaunch] = {};   // first sample
  std::int64_t output[kItemsPerLaunch] = {};  // first element of the rows
};

}  // namespace diarist::backend::cuda
