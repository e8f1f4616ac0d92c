#pragma once
// The CUDA backend's factory. The program runs on machines without a driver: the runtime is linked
// statically and finds the driver when it is first asked.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/choice/choice.hpp"

namespace diarist::backend::cuda {

/// \param index of the GPU. \param family of kernels: any, or one forced for tests and figures.
/// \param max_memory bytes that this process may hold on the GPU; 0: what it holds and nine tenths
/// of what is free. The last backend made for a GPU sets its limit. \throws Error kUnsupported
/// without a usable GPU of that number.
std::unique_ptr<Backend> make_cuda_backend(int index, Family family = Family::kAny,
                                           std::size_t max_memory = 0);

/// "", "hopper", "portable", "fp32" or "library". \throws Error kInvalidArgument.
Family family_named(const std::string& name);

/// "cuda:0", ...; empty without a driver or GPU.
std::vector<std::string> cuda_device_names();

}  // namespace diarist::backend::cuda
