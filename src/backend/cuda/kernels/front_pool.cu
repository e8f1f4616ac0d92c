// Memory-bound kernels before and between the convolutions of the segmentation front end.
//
// Moments are two-level: a CTA keeps its piece in registers, so it can take the mean first (of the
// differences from the piece's first value) and the squares around that mean; pieces are put
// together in double. Constant pieces, silence above all, have squares of exactly 0.

#include "backend/cuda/kernels/front_pool.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr unsigned kAll = 0xFFFFFFFFU;
constexpr int kWaveThreads = 256, kWaveSamples = kFrontSamples / kWavePieces;
constexpr int kWaveValues = (kWaveSamples + kWaveThreads - 1) / kWaveThreads;

__device__ __forceinline__ std::int64_t position_of(const std::int32_t* positions, int window) {
  return positions == nullptr ? window : positions[window];
}

// Sum over the CTA in one fixed order, for all threads.
__device__ __forceinline__ float block_sum(float value, float (&warps)[kWaveThreads / 32]) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(kAll, value, distance);
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int w = 0; w < kWaveThreads / 32; ++w) sum += warps[w];
  return sum;
}

__global__ void __launch_bounds__(kWaveThreads) wave_moments(WaveArgs args) {
  __shared__ float warps[kWaveThreads / 32];
  const int window = static_cast<int>(blockIdx.y), piece = static_cast<int>(blockIdx.x);
  const float* const x = args.samples +
                         position_of(args.positions, args.first + window) * args.stride +
                         piece * kWaveSamples;
  const float first = x[0];
  float value[kWaveValues], sum = 0;
#pragma unroll
  for (int j = 0; j < kWaveValues; ++j) {
    const int at = static_cast<int>(threadIdx.x) + j * kWaveThreads;
    value[j] = at < kWaveSamples ? x[at] - first : 0.0F;
  }
#pragma unroll
  for (int j = 0; j < kWaveValues; ++j) sum += value[j];
  const float mean = block_sum(sum, warps) / kWaveSamples;
  float squares = 0;
#pragma unroll
  for (int j = 0; j < kWaveValues; ++j) {
    const int at = static_cast<int>(threadIdx.x) + j * kWaveThreads;
    const float distance = at < kWaveSamples ? value[j] - mean : 0.0F;
    squares = fmaf(distance, distance, squares);
  }
  squares = block_sum(squares, warps);
  if (threadIdx.x == 0)
    args.moments[window * kWavePieces + piece] = {
        static_cast<double>(first) + static_cast<double>(mean), static_cast<double>(squares)};
}

__device__ __forceinline__ double warp_sum(double value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(kAll, value, distance);
  return value;
}

// A window per CTA of 96 threads; every warp puts the pieces together for itself.
__global__ void raw_affine(AffineArgs args) {
  const int window = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x & 31);
  const bool there = lane < kWavePieces;
  const WaveMoments piece =
      there ? args.moments[window * kWavePieces + lane] : WaveMoments{0.0, 0.0};
  const double mean = warp_sum(piece.mean) / kWavePieces;
  const double distance = there ? piece.mean - mean : 0.0;
  const double squares = warp_sum(piece.squares + kWaveSamples * distance * distance);
  const double scale = args.weight / sqrt(squares / kFrontSamples + 1e-5);
  const int c = static_cast<int>(threadIdx.x);
  RawAffine& affine = args.affine[window];
  if (c == 0) affine.scale = static_cast<float>(scale);
  if (c >= kFrontFilters) return;
  // What the shift loses in rounding goes into the offset.
  const double shift = mean * args.tap_sums[c];
  affine.shift[c] = static_cast<float>(shift);
  affine.offset[c] = static_cast<float>(args.bias * args.tap_sums[c] -
                                        scale * (shift - static_cast<double>(affine.shift[c])));
}

constexpr int kQuads = kFrontFilters / 4, kPoolSlots = 16, kPoolThreads = kQuads * kPoolSlots;
constexpr int kPoolValues = kPoolPieceRows / kPoolSlots;

__device__ __forceinline__ float& part(float4& value, int i) { return (&value.x)[i]; }

// Sums of a quad of channels over the 16 row slots, in order; valid in threads below 80 as the sum
// of channel threadIdx.x.
__device__ __forceinline__ float slot_sum(float4 value, float (&slots)[kPoolSlots][kFrontFilters]) {
  const int quad = static_cast<int>(threadIdx.x) % kQuads;
  const int slot = static_cast<int>(threadIdx.x) / kQuads;
  __syncthreads();
  *reinterpret_cast<float4*>(&slots[slot][4 * quad]) = value;
  __syncthreads();
  float sum = 0;
  if (threadIdx.x < kFrontFilters)
#pragma unroll
    for (int s = 0; s < kPoolSlots; ++s) sum += slots[s][threadIdx.x];
  return sum;
}

// 20 threads side by side read a row; 16 rows at a time, 128 pooled rows a CTA.
__global__ void __launch_bounds__(kPoolThreads, 3) front_pool(SincPoolArgs args) {
  __shared__ __align__(16) float slots[kPoolSlots][kFrontFilters];
  __shared__ __align__(16) float shared[kFrontFilters];  // first values, then means
  const int window = static_cast<int>(blockIdx.y), piece = static_cast<int>(blockIdx.x);
  const int quad = static_cast<int>(threadIdx.x) % kQuads;
  const int slot = static_cast<int>(threadIdx.x) / kQuads;
  const int row0 = piece * kPoolPieceRows;
  const int rows = min(kPoolPieceRows, kFrontPooledRows - row0);
  const float4* const raw = reinterpret_cast<const float4*>(
      args.raw + position_of(args.positions, args.first + window) * args.stride +
      static_cast<std::int64_t>(row0) * 3 * kFrontFilters);
  float4* const out = reinterpret_cast<float4*>(args.pooled) +
                      (static_cast<std::int64_t>(window) * kFrontPooledRows + row0) * kQuads + quad;
  const RawAffine& affine = args.affine[window];
  float4 shift = *reinterpret_cast<const float4*>(affine.shift + 4 * quad);
  float4 offset = *reinterpret_cast<const float4*>(affine.offset + 4 * quad);
  const float scale = affine.scale;
  float4 value[kPoolValues];
#pragma unroll
  for (int j = 0; j < kPoolValues; ++j) {
    const int row = slot + j * kPoolSlots;
    value[j] = make_float4(0, 0, 0, 0);
    if (row >= rows) continue;
#pragma unroll
    for (int r = 0; r < 3; ++r) {
      float4 x = __ldg(raw + (3 * row + r) * kQuads + quad);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        part(value[j], i) = fmaxf(part(value[j], i),
                                  fabsf(fmaf(part(x, i) - part(shift, i), scale, part(offset, i))));
    }
    out[row * kQuads] = value[j];
  }
  if (slot == 0) *reinterpret_cast<float4*>(shared + 4 * quad) = value[0];
  __syncthreads();
  float4 first = *reinterpret_cast<const float4*>(shared + 4 * quad);
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int j = 0; j < kPoolValues; ++j)
    if (slot + j * kPoolSlots < rows)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        part(value[j], i) -= part(first, i);
        part(sum, i) += part(value[j], i);
      }
  const float mean = slot_sum(sum, slots) / static_cast<float>(rows);
  __syncthreads();
  const float begin = threadIdx.x < kFrontFilters ? shared[threadIdx.x] : 0.0F;
  if (threadIdx.x < kFrontFilters) shared[threadIdx.x] = mean;
  __syncthreads();
  float4 middle = *reinterpret_cast<const float4*>(shared + 4 * quad);
  sum = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int j = 0; j < kPoolValues; ++j)
    if (slot + j * kPoolSlots < rows)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float distance = part(value[j], i) - part(middle, i);
        part(sum, i) = fmaf(distance, distance, part(sum, i));
      }
  const float squares = slot_sum(sum, slots);
  if (threadIdx.x < kFrontFilters)
    args.moments[(window * kPoolPieces + piece) * kFrontFilters + static_cast<int>(threadIdx.x)] = {
        begin + mean, squares};
}

constexpr int kNormParts = 8;  // of a channel's pieces

// A window per CTA, eight threads a channel.
__global__ void norm_of_moments(NormArgs args) {
  __shared__ double parts[kNormParts][kFrontFilters];
  const int window = static_cast<int>(blockIdx.x);
  const int c = static_cast<int>(threadIdx.x) % args.channels;
  const int mine = static_cast<int>(threadIdx.x) / args.channels;
  const Moments* const moments =
      args.moments + static_cast<std::int64_t>(window) * args.pieces * args.channels + c;
  const int each = (args.pieces + kNormParts - 1) / kNormParts;
  const int begin = mine * each, end = min(args.pieces, begin + each);
  const auto rows_of = [&](int piece) {
    return static_cast<double>(min(args.piece_rows, args.rows - piece * args.piece_rows));
  };
  const auto total = [&](double value) {
    __syncthreads();
    parts[mine][c] = value;
    __syncthreads();
    double sum = 0;
    for (int p = 0; p < kNormParts; ++p) sum += parts[p][c];
    return sum;
  };
  double sum = 0;
#pragma unroll 4
  for (int p = begin; p < end; ++p)
    sum += rows_of(p) * static_cast<double>(moments[p * args.channels].mean);
  const double mean = total(sum) / args.rows;
  sum = 0;
#pragma unroll 4
  for (int p = begin; p < end; ++p) {
    const Moments piece = moments[p * args.channels];
    const double distance = static_cast<double>(piece.mean) - mean;
    sum += static_cast<double>(piece.squares) + rows_of(p) * distance * distance;
  }
  const double variance = total(sum) / args.rows;
  if (mine != 0) return;
  args.means[window * args.channels + c] = static_cast<float>(mean);
  args.scales[window * args.channels + c] =
      static_cast<float>(static_cast<double>(args.weight[c]) / sqrt(variance + 1e-5));
}

}  // namespace

cudaError_t launch_wave_moments(const WaveArgs& args, cudaStream_t stream) {
  const dim3 grid(kWavePieces, static_cast<unsigned>(args.windows));
  wave_moments<<<grid, kWaveThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_raw_affine(const AffineArgs& args, cudaStream_t stream) {
  raw_affine<<<static_cast<unsigned>(args.windows), 96, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_front_pool(const SincPoolArgs& args, cudaStream_t stream) {
  const dim3 grid(kPoolPieces, static_cast<unsigned>(args.windows));
  front_pool<<<grid, kPoolThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_norm_of_moments(const NormArgs& args, cudaStream_t stream) {
  if (args.channels > kFrontFilters) return cudaErrorNotSupported;
  norm_of_moments<<<static_cast<unsigned>(args.windows),
                    static_cast<unsigned>(args.channels * kNormParts), 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
