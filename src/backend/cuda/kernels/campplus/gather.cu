// Kernels of gather.hpp.
//
// tables: a thread per row finds its item by bisection. means: a CTA per item, 12 chains of rows
// per band, added up in a fixed order. centre: a CTA takes 32 rows, reads them row by row and
// writes them band by band through shared memory; rows of no item become zero.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/campplus/gather.hpp"
#include "backend/cuda/kernels/mma.cuh"

namespace diarist::backend::cuda::campplus {
namespace {

constexpr int kTableThreads = 256;
constexpr int kChains = 12, kMeanThreads = kBands * kChains;
constexpr int kCentreRows = 32, kCentreThreads = 256;

__global__ void tables(TablesArgs args) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= args.rows) return;
  int low = 0, high = args.items_count;  // the item is before `high`
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (args.items[middle].first_row <= row ? low : high) = middle;
  }
  const PackItem item = args.items[low];
  const int within = row - item.first_row;
  args.row_items[row] = within >= 0 && within < item.rows ? low : -1;
  // An odd item's last unit still starts at one of its rows.
  if (row % 2 == 0)
    args.unit_segments[row / 2] =
        within >= 0 && within < item.rows ? item.first_segment + within / 2 / kSegmentUnits : -1;
}

__global__ void __launch_bounds__(kMeanThreads) means(GatherArgs args) {
  __shared__ float sums[kChains][kBands];
  const PackItem item = args.tables.items[blockIdx.x];
  const int band = static_cast<int>(threadIdx.x) % kBands;
  const int chain = static_cast<int>(threadIdx.x) / kBands;
  const std::int32_t* const indices = args.indices + item.first_index;
  float sum = 0;
  bool outside = false;
#pragma unroll 8
  for (int row = chain; row < item.rows; row += kChains) {
    const std::int64_t index = indices[row];
    const bool there = index >= 0 && index < args.feature_rows;
    outside = outside || !there;
    sum += there ? args.features[index * kBands + band] : 0.0F;
  }
  sums[chain][band] = sum;
  __syncthreads();
  if (outside) args.tables.range[blockIdx.x] = kBadIndex;
  if (chain != 0) return;
  float total = 0;
#pragma unroll
  for (int i = 0; i < kChains; ++i) total += sums[i][band];
  args.means[blockIdx.x * kBands + band] = total / static_cast<float>(item.rows);
}

__global__ void __launch_bounds__(kCentreThreads) centre(GatherArgs args) {
  __shared__ float tile[kBands][kCentreRows + 1];
  __shared__ std::int32_t owners[kCentreRows], sources[kCentreRows];
  const int row0 = static_cast<int>(blockIdx.x) * kCentreRows;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kCentreRows) {
    const int owner = args.tables.row_items[row0 + thread];
    std::int32_t source = -1;
    if (owner >= 0) {
      const PackItem item = args.tables.items[owner];
      source = args.indices[item.first_index + row0 + thread - item.first_row];
      if (source >= args.feature_rows) source = -1;
    }
    owners[thread] = owner;
    sources[thread] = source;
  }
  __syncthreads();
#pragma unroll
  for (int i = thread; i < kCentreRows * kBands; i += kCentreThreads) {
    const int row = i / kBands, band = i % kBands;
    const std::int64_t source = sources[row];
    tile[band][row] = source < 0 ? 0.0F
                                 : args.features[source * kBands + band] -
                                       args.means[owners[row] * kBands + band];
  }
  __syncthreads();
  constexpr int kPairs = kCentreRows / 2;
#pragma unroll
  for (int i = thread; i < kBands * kPairs; i += kCentreThreads) {
    const int band = i / kPairs, row = i % kPairs * 2;
    const float x = tile[band][row], y = tile[band][row + 1];
    std::uint32_t word = packed_halves(x, y);
    RangeWatch watch;
    watch.see(word);
    if (watch.overflowed()) {
      if (owners[row] >= 0) args.tables.range[owners[row]] = 1;
      if (owners[row + 1] >= 0) args.tables.range[owners[row + 1]] = 1;
    }
    word = clamped_halves(word);
    const std::size_t at = static_cast<std::size_t>(band) * static_cast<std::size_t>(args.pitch) +
                           static_cast<std::size_t>(kFeatureLead + row0 + row);
    *reinterpret_cast<std::uint32_t*>(args.planes + at) = word;
    if (args.low_planes != nullptr) {
      const float2 high = unpacked_halves(word);
      *reinterpret_cast<std::uint32_t*>(args.low_planes + at) =
          clamped_halves(packed_halves(x - high.x, y - high.y));
    }
  }
}

}  // namespace

cudaError_t launch_tables(const TablesArgs& args, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((args.rows + kTableThreads - 1) / kTableThreads);
  tables<<<blocks, kTableThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_gather(const GatherArgs& args, cudaStream_t stream) {
  means<<<static_cast<unsigned>(args.tables.items_count), kMeanThreads, 0, stream>>>(args);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  // 32 rows more than the pack: the stem reads a few columns behind its end.
  const unsigned blocks = static_cast<unsigned>(args.tables.rows / kCentreRows);
  centre<<<blocks, kCentreThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda::campplus
