#pragma once
// 16-bit samples to f32.

#include <cuda_runtime_api.h>

#include <cstdint>

namespace diarist::backend::cuda {

/// target[i] = source[i] / 32768; the source may be page-locked host memory.
cudaError_t launch_pcm16(const std::int16_t* source, float* target, std::int64_t count,
                         cudaStream_t stream);

}  // namespace diarist::backend::cuda
