#include "backend/cuda/cuda_meter.hpp"

#include <cuda_runtime.h>

namespace diarist::backend::cuda {

std::unique_ptr<DeviceMeter> make_cuda_meter(int index) {
  char bus[32] = {};
  if (cudaDeviceGetPCIBusId(bus, sizeof(bus), index) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return DeviceMeter::open(bus);
}

}  // namespace diarist::backend::cuda
