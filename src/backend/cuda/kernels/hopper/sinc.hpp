#pragma once
// The sinc convolution by warpgroup products; otherwise as kernels/sinc_mma.

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/sinc_mma.hpp"

namespace diarist::backend::cuda::hopper {

/// Once per device, before the first launch.
cudaError_t prepare_sinc();

/// `args.weights` from pack_split_rows() of [80][256]. A row's bits depend on its own samples only;
/// they may differ from those of the portable kernel.
cudaError_t launch_sinc(const SincMmaArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda::hopper
