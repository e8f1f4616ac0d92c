#pragma once
// Recipes: choices measured for exactly one device. They may differ from the class default of its
// architecture; so far they confirm it where a measurement exists.

#include "backend/cuda/choice/choice.hpp"

namespace diarist::backend::cuda {

struct RecipeEntry {
  int cin, cout, taps, stride;
  Mode mode;
  KernelId kernel;
};

struct Recipe {
  const char* device;  // name as the driver gives it
  int architecture, multiprocessors;
  std::span<const RecipeEntry> entries;
};

// Measured against cuDNN on one H200 at batch 132, 2026-11-29 (kernels of the same construction).
inline constexpr RecipeEntry kH200Entries[] = {
    {32, 32, 9, 1, Mode::kFast, KernelId::kBlockWalk},
    {64, 64, 9, 1, Mode::kFast, KernelId::kConvWalk},
    {32, 64, 9, 2, Mode::kFast, KernelId::kConvDown},
    {32, 64, 1, 2, Mode::kFast, KernelId::kConvDown},
    {64, 128, 9, 2, Mode::kFast, KernelId::kConvDown},
    {64, 128, 1, 2, Mode::kFast, KernelId::kConvDown},
};

inline constexpr Recipe kRecipes[] = {{"NVIDIA H200", 90, 132, kH200Entries}};

}  // namespace diarist::backend::cuda
