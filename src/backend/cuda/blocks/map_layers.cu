// Kernels of map_layers.hpp. The stem: a CTA takes 64 time steps x 4 bands; a thread makes all
// channels of one pixel, neighbours along time. Map to rows: 32 x 32 pieces through shared memory.

#include "backend/cuda/blocks/map_layers.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

constexpr int kTime = 64, kBandsPerBlock = 4, kThreads = kTime * kBandsPerBlock, kPiece = 32;

__global__ void __launch_bounds__(kThreads) stem(StemArgs args) {
  __shared__ float image[kBandsPerBlock + 2][kTime + 3];
  const int item = static_cast<int>(blockIdx.z), time = args.rows.length(item);
  const int t0 = static_cast<int>(blockIdx.x) * kTime;
  const int band0 = static_cast<int>(blockIdx.y) * kBandsPerBlock;
  if (t0 >= time) return;
  const float* const rows = args.rows.item(item);
  const float4* const means =
      args.means.base != nullptr ? reinterpret_cast<const float4*>(args.means.item(item)) : nullptr;
  constexpr int kBandsLoaded = kBandsPerBlock + 2;
  for (int i = static_cast<int>(threadIdx.x); i < kBandsLoaded * (kTime + 2); i += kThreads) {
    const int f = i % kBandsLoaded, band = band0 + f - 1, t = t0 + i / kBandsLoaded - 1;
    float x = 0;
    if (band >= 0 && band < args.bands && t >= 0 && t < time) {
      x = rows[static_cast<std::int64_t>(t) * args.bands + band];
      if (means != nullptr) x = x - means[band].x - means[band].y;
    }
    image[f][i / kBandsLoaded] = x;
  }
  __syncthreads();
  const int step = static_cast<int>(threadIdx.x) % kTime, f = static_cast<int>(threadIdx.x) / kTime;
  if (t0 + step >= time || band0 + f >= args.bands) return;
  float x[9];
#pragma unroll
  for (int tap = 0; tap < 9; ++tap) x[tap] = image[f + tap / 3][step + tap % 3];
  const std::int64_t plane = static_cast<std::int64_t>(args.bands) * time;
  float* y = args.map.item(item) + static_cast<std::int64_t>(band0 + f) * time + t0 + step;
  for (int c = 0; c < args.channels; ++c, y += plane) {
    float sum = args.bias[c];
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) sum = fmaf(x[tap], args.weight[c * 9 + tap], sum);
    *y = sum < 0 ? 0.0F : sum;
  }
}

__global__ void __launch_bounds__(kPiece * 8)
    map_to_rows(Array<const float> map, Array<float> rows, int columns) {
  __shared__ float piece[kPiece][kPiece + 1];
  const int item = static_cast<int>(blockIdx.z), time = map.length(item);
  const int t0 = static_cast<int>(blockIdx.x) * kPiece, c0 = static_cast<int>(blockIdx.y) * kPiece;
  if (t0 >= time) return;
  const int x = static_cast<int>(threadIdx.x) % kPiece, y = static_cast<int>(threadIdx.x) / kPiece;
  const float* const from = map.item(item);
  for (int c = y; c < kPiece; c += 8)
    if (c0 + c < columns && t0 + x < time)
      piece[c][x] = from[static_cast<std::int64_t>(c0 + c) * time + t0 + x];
  __syncthreads();
  float* const to = rows.item(item);
  for (int t = y; t < kPiece; t += 8)
    if (t0 + t < time && c0 + x < columns)
      to[static_cast<std::int64_t>(t0 + t) * columns + c0 + x] = piece[x][t];
}

}  // namespace

cudaError_t launch_stem(const StemArgs& args, int items, int longest, cudaStream_t stream) {
  if (longest < 1) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((longest + kTime - 1) / kTime),
                  static_cast<unsigned>((args.bands + kBandsPerBlock - 1) / kBandsPerBlock),
                  static_cast<unsigned>(items));
  stem<<<grid, kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_map_to_rows(Array<const float> map, Array<float> rows, int columns, int items,
                               int longest, cudaStream_t stream) {
  if (longest < 1) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((longest + kPiece - 1) / kPiece),
                  static_cast<unsigned>((columns + kPiece - 1) / kPiece),
                  static_cast<unsigned>(items));
  map_to_rows<<<grid, kPiece * 8, 0, stream>>>(map, rows, columns);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda::blocks
