#pragma once
// Where the items of a front end's run begin.

#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/kernels/front_items.hpp"

namespace diarist::backend::cuda {

/// What one row of a front end needs and gives.
struct RowShape {
  int reach = 1;   // samples
  int stride = 1;  // samples
  int columns = 1;
};

/// The items of a run in groups that fit one launch, checked against the buffers: input and output
/// positions count from the start of the buffers.
/// \throws Error kInvalidArgument naming what is wrong.
std::vector<FrontItems> items_of(const Run& run, const CompileOptions& options,
                                 const RowShape& shape, const std::string& graph);

}  // namespace diarist::backend::cuda
