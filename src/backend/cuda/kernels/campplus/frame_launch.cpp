#include "backend/cuda/kernels/campplus/frame_launch.hpp"

namespace diarist::backend::cuda::campplus {

cudaError_t prepare_frames(bool exact, FrameLaunch* launch) {
  int device = 0, most = 0, major = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (error != cudaSuccess) return error;
  // The deep rings are made for Hopper's 227 KB.
  launch->deep = most >= 227 * 1024;
  launch->overlap = major >= 9;
  error = prepare_dense_layer(exact, launch->deep);
  return error != cudaSuccess ? error : prepare_unit_products(exact, launch->deep);
}

}  // namespace diarist::backend::cuda::campplus
