#pragma once
// The segmentation front end's convolutions by warpgroup products; otherwise as kernels/front_conv.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "backend/cuda/kernels/front_conv.hpp"

namespace diarist::backend::cuda::hopper {

/// \param weight [60, channels, 5].
std::vector<std::uint16_t> pack_front_conv(const float* weight, int channels, float scale);

/// Once per device, before the first launch.
cudaError_t prepare_front_conv();

/// `args.weights` from this file's pack_front_conv(). A pooled row's bits depend on its own input
/// rows and the norm only; they differ from those of the portable kernel, which sums in another
/// order.
cudaError_t launch_front_conv(const FrontConvArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda::hopper
