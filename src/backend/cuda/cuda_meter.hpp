#pragma once
// The meter of a GPU by its number.

#include <memory>

#include "backend/cuda/choice/device_meter.hpp"

namespace diarist::backend::cuda {

/// \return null without such a GPU or the driver's management library.
std::unique_ptr<DeviceMeter> make_cuda_meter(int index);

}  // namespace diarist::backend::cuda
