#pragma once
// Inside of the choice functions: one selection that knows whether fused kernels may serve.

#include "backend/cuda/choice/choice.hpp"

namespace diarist::backend::cuda {

/// What stands around a convolution, as far as it matters to fused kernels.
struct Surroundings {
  bool whole_block = false;  // its basic block may be one kernel
  bool shortcut = false;     // stride-2 convolution and shortcut may be one kernel
};

/// \throws Error kUnsupported naming layer, batch and device.
LayerChoice select(const DeviceFacts& device, const ConvLayer& layer, const ChoiceOptions& options,
                   int index, const Surroundings& around);

}  // namespace diarist::backend::cuda
