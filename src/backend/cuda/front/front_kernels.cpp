#include "backend/cuda/front/front_kernels.hpp"

#include <cuda_runtime_api.h>

#include "backend/cuda/check.hpp"

namespace diarist::backend::cuda {

FrontDevice front_device() {
  int device = 0;
  check(cudaGetDevice(&device), "GPU");
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device), "GPU");
    return value;
  };
  return {attribute(cudaDevAttrMultiProcessorCount),
          static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)),
          attribute(cudaDevAttrComputeCapabilityMajor) == 9 &&
              attribute(cudaDevAttrComputeCapabilityMinor) == 0};
}

}  // namespace diarist::backend::cuda
