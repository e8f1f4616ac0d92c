#pragma once
// The input products of a bidirectional LSTM layer for a stretch of its frames.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/half.hpp"

namespace diarist::backend::cuda {

/// Columns of one direction: four gates of 128 units, column = unit*4 + gate.
constexpr int kGateColumns = 512;

/// products[d][r] = rows[first[d] + r] x weights[d] * scale[d] + bias[d], for both directions.
struct GateProductArgs {
  const __half* rows = nullptr;     // [.][2*depth]: high halves of a row, then low ones
  const __half* weights = nullptr;  // [2][512][2*depth], the same way
  const float* scale = nullptr;     // [2][512]
  const float* bias = nullptr;      // [2][512]
  float* products = nullptr;        // [2][count][512]
  std::int64_t first[2] = {0, 0};
  int count = 0;  // rows of a direction
  int depth = 0;  // a multiple of 32
};

/// Shared memory of a CTA.
constexpr int kGateProductsShared = 98304;
/// Once per device, before the first launch. cudaErrorNotSupported: too little shared memory.
cudaError_t prepare_gate_products();
cudaError_t launch_gate_products(const GateProductArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda
