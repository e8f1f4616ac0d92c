// Kernels of statistics.hpp. launch_moments: one CTA per slice and item; with few columns several
// threads share one, each taking every n-th row, and a tree of fixed shape adds them up.

#include "backend/cuda/blocks/statistics.hpp"
#include "backend/cuda/blocks/tile.cuh"

namespace diarist::backend::cuda::blocks {
namespace {

constexpr int kThreads = 256, kRowsPerThread = 32, kRowsPerBlock = 32;

int sharers(int columns) { return columns < kThreads ? kThreads / columns : 1; }

/// Sum over the `sharers` threads of a column; everyone gets it.
__device__ float shared_sum(float* partial, float mine, int lane, int column, int width,
                            int sharers) {
  __syncthreads();
  if (lane < sharers) partial[lane * width + column] = mine;
  __syncthreads();
  for (int n = sharers; n > 1;) {
    const int half = (n + 1) / 2;
    if (lane + half < n) partial[lane * width + column] += partial[(lane + half) * width + column];
    n = half;
    __syncthreads();
  }
  return partial[column];
}

__global__ void __launch_bounds__(kThreads) moments(MomentsArgs args, int rows_per_slice) {
  __shared__ float partial[kThreads];
  const int item = static_cast<int>(blockIdx.y), length = args.rows.length(item);
  const int first = static_cast<int>(blockIdx.x) * rows_per_slice;
  if (first >= length) return;
  const int count = min(rows_per_slice, length - first), columns = args.columns;
  const float* const x = args.rows.item(item) + static_cast<std::int64_t>(first) * columns;
  double2* const out = reinterpret_cast<double2*>(args.slices.item(item)) +
                       static_cast<std::int64_t>(blockIdx.x) * columns;
  const int width = min(columns, kThreads), sharers = kThreads / width;
  const int lane = static_cast<int>(threadIdx.x) / width;
  const int column = static_cast<int>(threadIdx.x) % width;
  for (int column0 = 0; column0 < columns; column0 += kThreads) {
    const int c = column0 + column;
    const bool active = lane < sharers && c < columns;
    const float shift = active ? x[c] : 0.0F;
    float sum = 0;
    if (active)
      for (int t = lane; t < count; t += sharers)
        sum += x[static_cast<std::int64_t>(t) * columns + c] - shift;
    const float mean =
        shared_sum(partial, sum, lane, column, width, sharers) / static_cast<float>(count);
    sum = 0;
    if (active)
      for (int t = lane; t < count; t += sharers) {
        const float difference = x[static_cast<std::int64_t>(t) * columns + c] - shift - mean;
        sum = fmaf(difference, difference, sum);
      }
    const float squares = shared_sum(partial, sum, lane, column, width, sharers);
    if (active && lane == 0)
      out[c] = make_double2(static_cast<double>(shift) + static_cast<double>(mean),
                            static_cast<double>(squares));
  }
}

/// Mean and sum of squared differences of a column.
__device__ double2 together(const float* slices, int length, int columns, int column,
                            int rows_per_slice) {
  const double2* const parts = reinterpret_cast<const double2*>(slices) + column;
  const int count = (length + rows_per_slice - 1) / rows_per_slice;
  const auto rows_of = [&](int slice) {
    return static_cast<double>(min(rows_per_slice, length - slice * rows_per_slice));
  };
  double mean = 0, squares = 0;
  for (int i = 0; i < count; ++i)
    mean += rows_of(i) * parts[static_cast<std::int64_t>(i) * columns].x;
  mean /= static_cast<double>(length);
  for (int i = 0; i < count; ++i) {
    const double2 part = parts[static_cast<std::int64_t>(i) * columns];
    squares += part.y + rows_of(i) * (part.x - mean) * (part.x - mean);
  }
  return make_double2(mean, squares);
}

__global__ void finish(FinishArgs args, int rows_per_slice) {
  const int item = static_cast<int>(blockIdx.y);
  const int c = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int length = args.rows.length(item);
  if (c >= args.columns || length < 1) return;
  const double2 moments = together(args.slices.item(item), length, args.columns, c, rows_per_slice);
  if (args.table.base != nullptr) {
    float gain = 1, bias = 0;
    if (args.weight != nullptr) {
      const double variance = moments.y / static_cast<double>(length);
      gain = static_cast<float>(static_cast<double>(args.weight[c]) / sqrt(variance + 1e-5));
      bias = args.bias[c];
    }
    const float mean = static_cast<float>(moments.x);
    reinterpret_cast<float4*>(args.table.item(item))[c] =
        make_float4(mean, static_cast<float>(moments.x - static_cast<double>(mean)), gain, bias);
  }
  if (args.statistics.base != nullptr) {
    float* const out = args.statistics.item(item);
    out[c] = static_cast<float>(moments.x);
    out[args.columns + c] =
        length == 1 ? 0.01F : static_cast<float>(sqrt(moments.y / static_cast<double>(length - 1)));
  }
}

__global__ void wave(WaveArgs args, int rows_per_slice) {
  const int item = static_cast<int>(blockIdx.y);
  const int f = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (f >= args.filters) return;
  const int length = args.samples.length(item);
  const double2 moments = together(args.slices.item(item), length, 1, 0, rows_per_slice);
  const double variance = moments.y / static_cast<double>(length);
  const double gain = static_cast<double>(args.weight) / sqrt(variance + 1e-5);
  const double shift = (static_cast<double>(args.bias) - moments.x * gain) * args.tap_sums[f];
  const float gain_high = static_cast<float>(gain), shift_high = static_cast<float>(shift);
  reinterpret_cast<float4*>(args.table.item(item))[f] =
      make_float4(gain_high, static_cast<float>(gain - static_cast<double>(gain_high)), shift_high,
                  static_cast<float>(shift - static_cast<double>(shift_high)));
}

__global__ void __launch_bounds__(kThreads) pool(PoolArgs args) {
  const int item = static_cast<int>(blockIdx.y), columns = args.columns;
  const int first = static_cast<int>(blockIdx.x) * kRowsPerBlock;
  const int rows = min(kRowsPerBlock, args.output.length(item) - first);
  const float* const input = args.input.item(item) + static_cast<std::int64_t>(3 * first) * columns;
  float* const output = args.output.item(item) + static_cast<std::int64_t>(first) * columns;
  const float4* const table =
      args.wave.base != nullptr ? reinterpret_cast<const float4*>(args.wave.item(item)) : nullptr;
  for (int i = static_cast<int>(threadIdx.x); i < rows * columns; i += kThreads) {
    const int c = i % columns;
    const float* const x = input + static_cast<std::int64_t>(3 * (i / columns)) * columns + c;
    float three[3] = {x[0], x[columns], x[2 * columns]};
    if (table != nullptr) {
      const float4 w = table[c];
      // Gain and shift nearly cancel in quiet windows with an offset; one rounding, then the rests.
#pragma unroll
      for (float& y : three) y = fabsf(fmaf(w.x, y, w.z) + fmaf(w.y, y, w.w));
    }
    float best = three[0];
    if (!(three[1] <= best)) best = three[1];
    if (!(three[2] <= best)) best = three[2];
    output[i] = activate(best, args.slope);
  }
}

__global__ void __launch_bounds__(kThreads) normalize(NormalizeArgs args) {
  const int item = static_cast<int>(blockIdx.y), columns = args.columns;
  const int first = static_cast<int>(blockIdx.x) * kRowsPerBlock;
  const int rows = min(kRowsPerBlock, args.rows.length(item) - first);
  float* const x = args.rows.item(item) + static_cast<std::int64_t>(first) * columns;
  const float4* const table = reinterpret_cast<const float4*>(args.table.item(item));
  for (int i = static_cast<int>(threadIdx.x); i < rows * columns; i += kThreads) {
    const float4 w = table[i % columns];
    x[i] = activate(fmaf(x[i] - w.x - w.y, w.z, w.w), args.slope);
  }
}

dim3 grid_of(int count, int per_block, int items) {
  return dim3(static_cast<unsigned>((count + per_block - 1) / per_block),
              static_cast<unsigned>(items));
}

}  // namespace

int slice_rows(int columns) { return kRowsPerThread * sharers(columns); }

std::int64_t slice_count(std::int64_t rows, int columns) {
  return (rows + slice_rows(columns) - 1) / slice_rows(columns);
}

cudaError_t launch_moments(const MomentsArgs& args, int items, int longest, cudaStream_t stream) {
  if (longest < 1) return cudaSuccess;
  const int rows = slice_rows(args.columns);
  moments<<<grid_of(longest, rows, items), kThreads, 0, stream>>>(args, rows);
  return cudaGetLastError();
}

cudaError_t launch_finish(const FinishArgs& args, int items, cudaStream_t stream) {
  finish<<<grid_of(args.columns, 128, items), 128, 0, stream>>>(args, slice_rows(args.columns));
  return cudaGetLastError();
}

cudaError_t launch_wave(const WaveArgs& args, int items, cudaStream_t stream) {
  wave<<<grid_of(args.filters, 128, items), 128, 0, stream>>>(args, slice_rows(1));
  return cudaGetLastError();
}

cudaError_t launch_pool(const PoolArgs& args, int items, int longest, cudaStream_t stream) {
  if (longest < 1) return cudaSuccess;
  pool<<<grid_of(longest, kRowsPerBlock, items), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_normalize(const NormalizeArgs& args, int items, int longest,
                             cudaStream_t stream) {
  if (longest < 1) return cudaSuccess;
  normalize<<<grid_of(longest, kRowsPerBlock, items), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda::blocks
