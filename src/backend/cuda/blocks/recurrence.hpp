#pragma once
// The recurrent part of a bidirectional LSTM layer; its input products are made before.

#include <cuda_runtime_api.h>

#include <vector>

#include "backend/cuda/blocks/arrays.hpp"

namespace diarist::backend::cuda::blocks {

/// Gates in the order of the kernels: unit by unit its input, forget, cell and output gate.
/// matrix: [4 * units][columns] in gate blocks -> the same rows unit by unit.
std::vector<float> interleave_gates(const float* matrix, int units, int columns);

/// Recurrent weights [4 * units][units] in gate blocks, as the kernel of this many units reads
/// them.
std::vector<float> pack_recurrent(const float* weight, int units);

/// Bytes of shared memory that a block of the device may have; asked once.
cudaError_t prepare_recurrence(int device, int* shared_bytes);

struct RecurrenceArgs {
  Array<const float> gates;      // [T][2 directions][units][4]: input products with the bias
  Array<float> output;           // [T][2 * units]: forward state, then backward state
  const float* weights[2] = {};  // packed
  int units = 0;
};
/// Any number of units up to 2048. \param multiprocessors, shared_bytes of the device: how many
/// items share a CTA and where weights lie, which has no say in the bits.
cudaError_t launch_recurrence(const RecurrenceArgs& args, int items, int multiprocessors,
                              int shared_bytes, cudaStream_t stream);

}  // namespace diarist::backend::cuda::blocks
