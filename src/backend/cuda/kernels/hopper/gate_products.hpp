#pragma once
// The input products of gate_products.hpp on Hopper.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/gate_products.hpp"

namespace diarist::backend::cuda::hopper {

/// Tensor map of rows in split halves, [count][2*depth], or of weights, [2*512][2*depth].
/// `data` begins at a multiple of 16 bytes. \return as make_tensor_map().
cudaError_t map_split_rows(CUtensorMap* map, const __half* data, int depth, int count);

/// Depth 64 or 256. args.rows and args.weights must be what the maps were made of.
cudaError_t launch_gate_products(const GateProductArgs& args, const CUtensorMap& rows,
                                 const CUtensorMap& weights, int multiprocessors,
                                 cudaStream_t stream);
/// Once per device, before the first launch.
cudaError_t prepare_gate_products();

}  // namespace diarist::backend::cuda::hopper
