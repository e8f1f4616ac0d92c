#pragma once
// Arguments of the convolution kernels. Maps are [item][frequency][time][channels] in halves; in
// split mode a pixel holds its high parts, then its low parts: [2][channels].

#include <cstdint>

#include "backend/cuda/kernels/half.hpp"

namespace diarist::backend::cuda {

/// Everything a fused convolution needs: y = relu(conv(x) * unscale + bias + residual).
struct ConvArgs {
  const __half* input = nullptr;
  const __half* weights = nullptr;   // packed for the kernel that is launched
  const float* bias = nullptr;       // [cout]
  const __half* residual = nullptr;  // null: none
  __half* output = nullptr;
  int items = 0;
  int in_f = 0, in_t = 0;  // input frequency, time
  int out_f = 0, out_t = 0;
  int cin = 0, cout = 0;
  float unscale = 1;  // undoes the power of two that scales the weights
  bool relu = true;
  std::uint32_t* range = nullptr;  // one word per item: set when a value left the range of a half
};

/// Shape of a convolution as the kernels are specialised for it.
struct ConvShape {
  int taps = 9;  // 9: 3x3 padded by 1; 1: 1x1
  int stride_f = 1;
  int stride_t = 1;
};

/// What the portable kernels ask of a device.
struct ConvDevice {
  int multiprocessors = 0;
  int shared_per_block = 0;           // bytes that a CTA may opt in to
  int shared_per_multiprocessor = 0;  // bytes
};

}  // namespace diarist::backend::cuda
