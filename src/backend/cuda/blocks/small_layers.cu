// Kernels of small_layers.hpp: a thread per row, or per element of a block of rows.

#include "backend/cuda/blocks/small_layers.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

constexpr int kThreads = 256, kRowsPerBlock = 32;

__device__ __forceinline__ int row_of_thread() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void log_softmax(Array<const float> rows, Array<float> output, int columns) {
  const int item = static_cast<int>(blockIdx.y), t = row_of_thread();
  if (t >= output.length(item)) return;
  const float* const x = rows.item(item) + static_cast<std::int64_t>(t) * columns;
  float* const y = output.item(item) + static_cast<std::int64_t>(t) * columns;
  float top = x[0], sum = 0;
  for (int c = 1; c < columns; ++c) top = x[c] > top ? x[c] : top;
  for (int c = 0; c < columns; ++c) sum += expf(x[c] - top);
  const float rest = logf(sum);
  for (int c = 0; c < columns; ++c) y[c] = x[c] - top - rest;
}

__global__ void decide(Array<const float> rows, Array<std::uint8_t> classes, int columns) {
  const int item = static_cast<int>(blockIdx.y), t = row_of_thread();
  if (t >= classes.length(item)) return;
  const float* const x = rows.item(item) + static_cast<std::int64_t>(t) * columns;
  int best = 0;
  for (int c = 1; c < columns; ++c)
    if (x[c] > x[best]) best = c;
  classes.item(item)[t] = static_cast<std::uint8_t>(best);
}

__global__ void __launch_bounds__(kThreads)
    make_masks(Array<const std::uint8_t> classes, Array<float> masks) {
  constexpr int kLeastCleanFrames = 2;      // pipeline.md 6
  constexpr unsigned kBits = 0x0653'4210U;  // a digit per class: its speakers
  const int item = static_cast<int>(blockIdx.x), frames = classes.length(item);
  const std::uint8_t* const x = classes.item(item);
  float* const y = masks.item(item);
  int clean[3] = {};
  for (int t0 = 0; t0 < frames; t0 += kThreads) {
    const int t = t0 + static_cast<int>(threadIdx.x);
    const int now = t < frames ? x[t] : 0;
#pragma unroll
    for (int s = 0; s < 3; ++s) clean[s] += __syncthreads_count(now == s + 1);
  }
  for (int t = static_cast<int>(threadIdx.x); t < frames; t += kThreads) {
    const unsigned now = x[t];
#pragma unroll
    for (unsigned s = 0; s < 3; ++s) {
      const bool speaks = now < 7 && (kBits >> (4 * now) >> s & 1) != 0;
      const bool set = clean[s] > kLeastCleanFrames ? now == s + 1 : speaks;
      y[static_cast<std::int64_t>(s) * frames + t] = set ? 1.0F : 0.0F;
    }
  }
}

__global__ void __launch_bounds__(kThreads) gather_rows(GatherArgs args) {
  const int item = static_cast<int>(blockIdx.y),
            first = static_cast<int>(blockIdx.x) * kRowsPerBlock;
  const int rows = min(kRowsPerBlock, args.output.length(item) - first);
  const std::int32_t* const indices = args.indices.item(item) + first;
  float* const y = args.output.item(item) + static_cast<std::int64_t>(first) * args.columns;
  for (int i = static_cast<int>(threadIdx.x); i < rows * args.columns; i += kThreads) {
    const int t = i / args.columns, c = i % args.columns;
    const std::int64_t row = indices[t];
    const bool inside = row >= 0 && row < args.rows;
    y[i] = inside ? args.shared[row * args.columns + c] : 0.0F;
    if (!inside && c == 0)
      atomicMin(args.fault, static_cast<unsigned long long>(args.first_item + item) << 32 |
                                static_cast<unsigned>(first + t));
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads) copy_items(CopyArgs args) {
  const int item = static_cast<int>(blockIdx.y);
  const std::int64_t rows = args.rows < 0 ? args.output.length(item) : args.rows;
  const T* const from = reinterpret_cast<const T*>(args.input.base) + args.input.places[item].start;
  T* const to = reinterpret_cast<T*>(args.output.base) + args.output.places[item].start;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       i < rows * args.width; i += step)
    to[i / args.width * args.output_pitch + i % args.width] =
        from[i / args.width * args.input_pitch + i % args.width];
}

dim3 grid_of(int count, int per_block, int items) {
  return dim3(static_cast<unsigned>((count + per_block - 1) / per_block),
              static_cast<unsigned>(items));
}

}  // namespace

cudaError_t launch_log_softmax(Array<const float> rows, Array<float> output, int columns, int items,
                               int longest, cudaStream_t stream) {
  if (longest < 1) return cudaSuccess;
  log_softmax<<<grid_of(longest, 128, items), 128, 0, stream>>>(rows, output, columns);
  return cudaGetLastError();
}

cudaError_t launch_decision(Array<const float> rows, Array<std::uint8_t> classes, int columns,
                            int items, int longest, cudaStream_t stream) {
  if (longest < 1) return cudaSuccess;
  decide<<<grid_of(longest, 128, items), 128, 0, stream>>>(rows, classes, columns);
  return cudaGetLastError();
}

cudaError_t launch_masks(Array<const std::uint8_t> classes, Array<float> masks, int items,
                         cudaStream_t stream) {
  make_masks<<<static_cast<unsigned>(items), kThreads, 0, stream>>>(classes, masks);
  return cudaGetLastError();
}

cudaError_t launch_gather_rows(const GatherArgs& args, int items, int longest,
                               cudaStream_t stream) {
  if (longest < 1) return cudaSuccess;
  gather_rows<<<grid_of(longest, kRowsPerBlock, items), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_copy(const CopyArgs& args, int items, std::int64_t longest,
                        cudaStream_t stream) {
  const std::int64_t elements = (args.rows < 0 ? longest : args.rows) * args.width;
  if (elements < 1) return cudaSuccess;
  const std::int64_t blocks = (elements + 4 * kThreads - 1) / (4 * kThreads);
  const dim3 grid(static_cast<unsigned>(blocks < 1024 ? blocks : 1024),
                  static_cast<unsigned>(items));
  if (args.element_bytes == 1)
    copy_items<std::uint8_t><<<grid, kThreads, 0, stream>>>(args);
  else
    copy_items<float><<<grid, kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda::blocks
