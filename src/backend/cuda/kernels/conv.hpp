#pragma once
// Host side of the convolution kernels.

#include <cuda_runtime_api.h>

#include <vector>

#include "backend/cuda/kernels/conv_args.hpp"

namespace diarist::backend::cuda {

/// Weights in the order in which the kernels read them: [slab][tap][cout][channels of a slab], as
/// the bits of halves. In split mode three slabs per group of channels: high, low, high.
/// `scale` (a power of two) multiplies the weights first.
/// \param weight [cout, cin, k, k] f32.
std::vector<std::uint16_t> pack_conv_weights(const float* weight, int cout, int cin, int taps,
                                             bool split, float scale);

/// Power of two that brings the largest weight into [128, 256), so that the low parts of split
/// weights stay normal numbers.
float conv_weight_scale(const float* weight, std::size_t count);

/// Channels per slab for a number of input channels.
int conv_slab(int cin);

/// Launches the portable kernel. \return an error when the shape has no kernel
/// (cudaErrorNotSupported) or the launch failed.
cudaError_t launch_conv_mma(const ConvShape& shape, bool split, const ConvArgs& args,
                            cudaStream_t stream);

/// Must be called once per device before the first launch or capture: allows large shared memory.
cudaError_t prepare_conv_mma();

}  // namespace diarist::backend::cuda
