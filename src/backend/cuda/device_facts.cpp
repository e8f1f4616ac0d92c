#include "backend/cuda/device_facts.hpp"

#include "backend/cuda/check.hpp"

namespace diarist::backend::cuda {

DeviceFacts device_facts(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "GPU");
  DeviceFacts facts;
  facts.name = properties.name;
  facts.architecture = properties.major * 10 + properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.shared_bytes = properties.sharedMemPerBlockOptin;
  return facts;
}

}  // namespace diarist::backend::cuda
