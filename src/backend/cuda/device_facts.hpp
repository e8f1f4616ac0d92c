#pragma once
// What the choice of kernels asks of a device.

#include "backend/cuda/choice/choice.hpp"

namespace diarist::backend::cuda {

/// \throws Error kUnsupported when there is no such device.
DeviceFacts device_facts(int device);

}  // namespace diarist::backend::cuda
