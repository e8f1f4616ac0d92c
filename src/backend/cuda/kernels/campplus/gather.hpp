#pragma once
// The front of CAM++: which row belongs to which item, and the gathered rows without their mean.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/campplus/layout.hpp"

namespace diarist::backend::cuda::campplus {

/// Planes of halves [80][pitch]; row 0 of the pack is column kFeatureLead, everything before it and
/// behind the pack is zero. The low parts follow the high parts in exact mode.
inline constexpr int kFeatureLead = 8, kFeatureTail = 56;

/// Written into an item's range word when one of its indices is outside of the shared rows.
inline constexpr std::uint32_t kBadIndex = 2;

struct TablesArgs {
  const PackItem* items = nullptr;
  std::int32_t* row_items = nullptr;
  std::int32_t* unit_segments = nullptr;
  int items_count = 0, rows = 0;
};
/// Fills the tables of rows and units from the list of items.
cudaError_t launch_tables(const TablesArgs& args, cudaStream_t stream);

struct GatherArgs {
  PackTables tables;
  const float* features = nullptr;        // [feature_rows][80]
  const std::int32_t* indices = nullptr;  // PackItem::first_index counts from here
  std::int64_t feature_rows = 0;
  float* means = nullptr;  // [items][80], workspace
  __half* planes = nullptr;
  __half* low_planes = nullptr;  // exact mode, else null
  int pitch = 0;                 // of a plane, in halves
};
/// An item's numbers depend on nothing but its own rows.
cudaError_t launch_gather(const GatherArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda::campplus
