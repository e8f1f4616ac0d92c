// Memory-bound: a thread takes four channels of a row. 16 threads make a row of halves (15 with
// channels, the last one the padding), 16 rows a CTA.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/front_rows.hpp"
#include "backend/cuda/kernels/split_product.cuh"

namespace diarist::backend::cuda {
namespace {

constexpr int kRowQuads = 16, kBlockRows = 16, kRowHalves = 128, kTapThreads = 256;

__device__ __forceinline__ float normalized(float x, float mean, float scale, float offset) {
  const float y = fmaf(x - mean, scale, offset);
  return fmaxf(y, 0.01F * y);
}

__device__ __forceinline__ float4 normalized_quad(const FrontRowsArgs& args, int window, int row,
                                                  int quad) {
  const int quads = args.channels / 4;
  const std::int64_t norm = static_cast<std::int64_t>(window) * quads + quad;
  const float4 x = reinterpret_cast<const float4*>(
      args.input)[(static_cast<std::int64_t>(window) * args.rows + row) * quads + quad];
  const float4 mean = reinterpret_cast<const float4*>(args.means)[norm];
  const float4 scale = reinterpret_cast<const float4*>(args.scales)[norm];
  const float4 offset = reinterpret_cast<const float4*>(args.offsets)[quad];
  return make_float4(
      normalized(x.x, mean.x, scale.x, offset.x), normalized(x.y, mean.y, scale.y, offset.y),
      normalized(x.z, mean.z, scale.z, offset.z), normalized(x.w, mean.w, scale.w, offset.w));
}

__device__ __forceinline__ float within_halves(float x) {
  return fminf(fmaxf(x, -65504.0F), 65504.0F);
}

__global__ void __launch_bounds__(kRowQuads* kBlockRows)
    front_rows(FrontRowsArgs args, __half* output, int row_windows, int first) {
  const int window = static_cast<int>(blockIdx.y);
  const int quad = static_cast<int>(threadIdx.x) % kRowQuads;
  const int row =
      static_cast<int>(blockIdx.x) * kBlockRows + static_cast<int>(threadIdx.x) / kRowQuads;
  if (row >= args.rows) return;
  uint2 high = make_uint2(0, 0), low = high;
  if (4 * quad < args.channels) {
    const float4 x = normalized_quad(args, window, row, quad);
    split_pair(within_halves(x.x), within_halves(x.y), high.x, low.x);
    split_pair(within_halves(x.z), within_halves(x.w), high.y, low.y);
  }
  __half* const out =
      output + (static_cast<std::int64_t>(row) * row_windows + first + window) * kRowHalves;
  *reinterpret_cast<uint2*>(out + 4 * quad) = high;
  *reinterpret_cast<uint2*>(out + kRowHalves / 2 + 4 * quad) = low;
}

__global__ void __launch_bounds__(kTapThreads)
    front_tap(FrontRowsArgs args, float* output, std::int64_t stride, float unscale) {
  const int window = static_cast<int>(blockIdx.y), quads = args.channels / 4;
  const int at = static_cast<int>(blockIdx.x) * kTapThreads + static_cast<int>(threadIdx.x);
  if (at >= args.rows * quads) return;
  const float4 x = normalized_quad(args, window, at / quads, at % quads);
  // The caller's rows may begin anywhere.
  float* const out = output + window * stride + 4 * static_cast<std::int64_t>(at);
  out[0] = x.x * unscale;
  out[1] = x.y * unscale;
  out[2] = x.z * unscale;
  out[3] = x.w * unscale;
}

}  // namespace

cudaError_t launch_front_rows(const FrontRowsArgs& args, __half* output, int row_windows, int first,
                              cudaStream_t stream) {
  if (args.channels != 60) return cudaErrorNotSupported;
  const dim3 grid(static_cast<unsigned>((args.rows + kBlockRows - 1) / kBlockRows),
                  static_cast<unsigned>(args.windows));
  front_rows<<<grid, kRowQuads * kBlockRows, 0, stream>>>(args, output, row_windows, first);
  return cudaGetLastError();
}

cudaError_t launch_front_tap(const FrontRowsArgs& args, float* output, std::int64_t stride,
                             float unscale, cudaStream_t stream) {
  if (args.channels % 4 != 0) return cudaErrorNotSupported;
  const int quads = args.rows * (args.channels / 4);
  const dim3 grid(static_cast<unsigned>((quads + kTapThreads - 1) / kTapThreads),
                  static_cast<unsigned>(args.windows));
  front_tap<<<grid, kTapThreads, 0, stream>>>(args, output, stride, unscale);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
