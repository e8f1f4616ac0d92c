#pragma once
// Skipping where there is no GPU, for tests of parts of the backend.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace diarist::test {

inline bool gpu_there() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
  cudaGetLastError();
  return false;
}

}  // namespace diarist::test

// Skips without a GPU, or fails when DIARIST_REQUIRE_GPU=1.
#define DIARIST_NEED_CUDA()                                                                       \
  do {                                                                                            \
    if (!::diarist::test::gpu_there()) {                                                          \
      const char* required = std::getenv("DIARIST_REQUIRE_GPU");                                  \
      if (required != nullptr && *required == '1') FAIL() << "DIARIST_REQUIRE_GPU=1, but no GPU"; \
      GTEST_SKIP() << "needs an NVIDIA GPU";                                                      \
    }                                                                                             \
  } while (false)
