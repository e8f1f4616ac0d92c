#pragma once
// Host side of the convolution kernels.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "backend/cuda/kernels/conv_args.hpp"

namespace diarist::backend::cuda {

/// Weights in the order in which conv_mma reads them, as the bits of halves:
/// [slab][time tap][frequency tap][cout][32]. A slab is 32 input channels; in split mode 16
/// channels: their high parts, then their low parts. Within every 32 output channels, row 8 j + 2 q
/// + e holds channel 8 q + 2 j + e, so that the sums of one thread are eight neighbouring channels.
/// `scale` (a power of two) multiplies the weights first.
/// \param weight [cout, cin, k, k] f32; cin and cout multiples of 32.
std::vector<std::uint16_t> pack_conv_weights(const float* weight, int cout, int cin, int taps,
                                             bool split, float scale);

/// Power of two that brings the largest weight into [128, 256), so that the low parts of split
/// weights stay normal numbers.
float conv_weight_scale(const float* weight, std::size_t count);

/// The first tile of kConvMmaTiles behind `after` that serves a layer on a device whose CTAs may
/// have so much shared memory; -1: none. Neither the batch nor the tile changes a result's bits.
int choose_conv_mma(const ConvShape& shape, bool split, int cin, int cout, int shared_per_block,
                    int after = -1);

/// Facts of the current device.
cudaError_t query_conv_device(ConvDevice* device);

/// Launches one tile (an index of kConvMmaTiles) of the portable kernel.
cudaError_t launch_conv_mma_tile(int tile, const ConvDevice& device, bool split,
                                 const ConvArgs& args, cudaStream_t stream);

/// Launches the first tile that serves. \return an error when the shape has no kernel
/// (cudaErrorNotSupported) or the launch failed.
cudaError_t launch_conv_mma(const ConvShape& shape, bool split, const ConvArgs& args,
                            cudaStream_t stream);

/// Must be called once per device before the first launch or capture: allows large shared memory.
cudaError_t prepare_conv_mma();

}  // namespace diarist::backend::cuda
