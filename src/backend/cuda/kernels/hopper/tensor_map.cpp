#include "backend/cuda/kernels/hopper/tensor_map.hpp"

#include <cstdint>

namespace diarist::backend::cuda::hopper {
namespace {

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                            const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                            CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                            CUtensorMapFloatOOBfill);

// The driver is not linked, so that the program starts without one: the runtime finds the function.
cudaError_t find_encode(Encode* encode) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found,
                                                             12000, cudaEnableDefault, &result);
  if (error != cudaSuccess) return error;
  if (result != cudaDriverEntryPointSuccess || found == nullptr) return cudaErrorNotSupported;
  *encode = reinterpret_cast<Encode>(found);
  return cudaSuccess;
}

}  // namespace

cudaError_t make_tensor_map(CUtensorMap* tensor_map, const HalfMap& map, const Box& box) {
  Encode encode = nullptr;
  const cudaError_t error = find_encode(&encode);
  if (error != cudaSuccess) return error;
  const auto channels = static_cast<cuuint64_t>(map.channels);
  const auto time = static_cast<cuuint64_t>(map.time);
  const auto frequency = static_cast<cuuint64_t>(map.frequency);
  const cuuint64_t sizes[4] = {channels, time, frequency, static_cast<cuuint64_t>(map.items)};
  const cuuint64_t strides[3] = {channels * 2, time * channels * 2,
                                 frequency * time * channels * 2};
  const cuuint32_t extents[4] = {static_cast<cuuint32_t>(box.channels),
                                 static_cast<cuuint32_t>(box.time),
                                 static_cast<cuuint32_t>(box.frequency), 1};
  const cuuint32_t steps[4] = {1, static_cast<cuuint32_t>(box.step_time), 1, 1};
  const CUresult result =
      encode(tensor_map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, map.data, sizes, strides, extents,
             steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             box.channels == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace diarist::backend::cuda::hopper
