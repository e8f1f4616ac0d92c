#pragma once
// Products with weights: dense layers and convolutions over rows, convolutions over maps.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "backend/cuda/blocks/arrays.hpp"

namespace diarist::backend::cuda::blocks {

/// Weights of a product, [outputs][columns][taps] as models keep them, in the order of the kernels:
/// [taps][columns padded to 16][outputs padded to 64].
std::vector<float> pack_product(const float* weight, int outputs, int columns, int taps);

struct ProductWeights {
  const float* weights = nullptr;     // packed
  const float* bias = nullptr;        // [outputs]; null: zeros
  const float* pre_scale = nullptr;   // [columns]; null: the inputs are taken as they are
  const float* pre_offset = nullptr;  // [columns]
  int outputs = 0, columns = 0, taps = 1;
};

/// Row t of an item: activation(bias + sum over taps and columns of
/// input[t*stride + tap*dilation - padding] * weight), rows outside being zero.
struct RowProduct {
  Array<const float> input;
  int input_pitch = 0;       // floats between rows; may be less than the columns:
  bool overlapping = false;  // then as many rows are read as there are outputs
  ProductWeights product;
  int stride = 1, dilation = 1, padding = 0;
  float slope = 1;  // of the activation below zero: 1, 0 or 0.01
  Array<float> output;
  int output_pitch = 0;
  Array<const float> gates;  // [segments][outputs], factors of all frames of a segment; or no base
};
/// \param longest output length of an item; items that are shorter end earlier.
cudaError_t launch_row_product(const RowProduct& args, int items, int longest, cudaStream_t stream);

/// Maps [channels][frequency][time]; 3x3 padded by 1 or 1x1.
struct MapProduct {
  Array<const float> input;
  ProductWeights product;
  int in_frequency = 0, out_frequency = 0;
  int stride_frequency = 1, stride_time = 1;
  Array<const float> residual;  // added before the activation; or no base
  float slope = 1;
  Array<float> output;
};
cudaError_t launch_map_product(const MapProduct& args, int items, int longest, cudaStream_t stream);

}  // namespace diarist::backend::cuda::blocks
