#pragma once
// CUDA errors as diarist errors.

#include <cuda_runtime_api.h>

#include "base/error.hpp"

namespace diarist::backend::cuda {

/// Throws when a call failed. `what` names the object, e.g. "device memory of 26 MB".
inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  // A launch or allocation error leaves a mark that the next query would report again.
  cudaGetLastError();
  switch (error) {
    case cudaErrorMemoryAllocation:
      base::fail(ErrorCode::kOutOfMemory,
                 "{}: not enough GPU memory; use a smaller batch or free memory on the card", what);
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDevice:
      base::fail(ErrorCode::kUnsupported,
                 "{}: no usable NVIDIA GPU or driver ({}); use --device cpu", what,
                 cudaGetErrorString(error));
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorSystemDriverMismatch:
      base::fail(ErrorCode::kUnsupported,
                 "{}: this build has no kernels for this GPU or its driver ({}); use a build for "
                 "its architecture, a newer driver, or --device cpu",
                 what, cudaGetErrorString(error));
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorStreamCaptureUnsupported:
      // The device is well; the call was wrong.
      base::fail(ErrorCode::kInternal, "{}: {}; please report this, --device cpu works meanwhile",
                 what, cudaGetErrorString(error));
    case cudaErrorNotSupported:
      base::fail(ErrorCode::kUnsupported, "{}: no CUDA kernel serves this shape", what);
    default:
      base::fail(ErrorCode::kDeviceLost, "{}: {}; make a new Diarizer, or use --device cpu", what,
                 cudaGetErrorString(error));
  }
}

}  // namespace diarist::backend::cuda
