#pragma once
// The CUDA backend's factory. The program runs on machines without a driver: the runtime is linked
// statically and finds the driver when it is first asked.

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace diarist::backend::cuda {

/// \param index of the GPU. \throws Error kUnsupported without a usable GPU of that number.
std::unique_ptr<Backend> make_cuda_backend(int index);

/// "cuda:0", ...; empty without a driver or GPU.
std::vector<std::string> cuda_device_names();

}  // namespace diarist::backend::cuda
