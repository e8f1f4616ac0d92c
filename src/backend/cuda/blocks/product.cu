// Kernels of product.hpp. One CTA of tile.cuh makes 64 rows x 64 outputs, or another tile that
// leaves less of itself empty. For maps a row is a pixel; they are counted along time, then along
// frequency, so that short maps fill a tile too.

#include "backend/cuda/blocks/product.hpp"
#include "backend/cuda/blocks/tile.cuh"

namespace diarist::backend::cuda::blocks {
namespace {

constexpr int kOutputAlign = 64;

int rounded(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

template <bool kPre>
struct RowSource {
  static constexpr bool kAlongRows = false;
  const float* input;
  const float* pre_scale;
  const float* pre_offset;
  int pitch, columns, rows, first, stride, dilation;

  const float* at;  // of the row
  int row;
  bool inside;
  float scale = 0, offset = 0;

  __device__ __forceinline__ void seek(int tap, int c, int m) {
    row = first + tap * dilation + m * stride;
    at = input + (static_cast<std::int64_t>(row) * pitch + c);
    inside = c < columns;
    if (kPre) scale = inside ? pre_scale[c] : 0.0F;
    if (kPre) offset = inside ? pre_offset[c] : 0.0F;
  }
  __device__ __forceinline__ float load(int m, int /*inner*/) const {
    const bool there =
        inside && static_cast<unsigned>(row + m * stride) < static_cast<unsigned>(rows);
    return there ? at[static_cast<std::int64_t>(m * stride) * pitch] : 0.0F;
  }
  __device__ __forceinline__ float finish(float x) const {
    return kPre ? activate(fmaf(x, scale, offset), 0.0F) : x;
  }
};

template <int kRows, int kOutputs, bool kPre>
__global__ void __launch_bounds__(Tile<kRows, kOutputs>::kThreads) row_product(RowProduct args) {
  using T = Tile<kRows, kOutputs>;
  __shared__ T tile;
  const int item = static_cast<int>(blockIdx.z), length = args.output.length(item);
  const int t0 = static_cast<int>(blockIdx.x) * kRows;
  const int output0 = static_cast<int>(blockIdx.y) * kOutputs;
  if (t0 >= length) return;
  const ProductWeights& product = args.product;
  RowSource<kPre> source;
  source.input = args.input.item(item);
  source.pre_scale = product.pre_scale;
  source.pre_offset = product.pre_offset;
  source.pitch = args.input_pitch;
  source.columns = product.columns;
  source.rows = args.overlapping ? length : args.input.length(item);
  source.first = t0 * args.stride - args.padding;
  source.stride = args.stride;
  source.dilation = args.dilation;
  float sum[8][4] = {};
  const int pitch = (product.outputs + kOutputAlign - 1) / kOutputAlign * kOutputAlign;
  multiply(tile, source, product.weights + output0, pitch, product.taps,
           (product.columns + kSlab - 1) / kSlab, sum);
  float* const output = args.output.item(item);
  const float* const gates = args.gates.base != nullptr ? args.gates.item(item) : nullptr;
  const int column = output0 + T::template first_output<false>();
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int t = t0 + T::template first_row<false>() + T::row_of(i);
    if (t >= length) continue;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (column + j >= product.outputs) continue;
      const float bias = product.bias != nullptr ? product.bias[column + j] : 0.0F;
      float y = activate(sum[i][j] + bias, args.slope);
      if (gates != nullptr) y *= gates[t / kSegmentFrames * product.outputs + column + j];
      output[static_cast<std::int64_t>(t) * args.output_pitch + column + j] = y;
    }
  }
}

/// A thread loads one pixel only, so its place is worked out once.
struct MapSource {
  static constexpr bool kAlongRows = true;
  const float* input;
  std::int64_t plane;  // numbers of a channel
  int channels, frequency, time, kernel;
  int first_f, first_t;  // of the pixel's first tap

  const float* at;
  int left;  // channels from there on; none where the tap lies outside

  __device__ __forceinline__ void seek(int tap, int c, int /*row*/) {
    const int f = first_f + tap / kernel, t = first_t + tap % kernel;
    const bool inside = f >= 0 && f < frequency && t >= 0 && t < time;
    at = input + (c * plane + static_cast<std::int64_t>(f) * time + t);
    left = inside ? channels - c : 0;
  }
  __device__ __forceinline__ float load(int /*row*/, int inner) const {
    return inner < left ? at[inner * plane] : 0.0F;
  }
  __device__ __forceinline__ float finish(float x) const { return x; }
};

template <int kRows, int kOutputs>
__global__ void __launch_bounds__(Tile<kRows, kOutputs>::kThreads) map_product(MapProduct args) {
  using T = Tile<kRows, kOutputs>;
  __shared__ T tile;
  const int item = static_cast<int>(blockIdx.z), length = args.output.length(item);
  const std::int64_t pixels = static_cast<std::int64_t>(args.out_frequency) * length;
  const std::int64_t pixel0 = static_cast<std::int64_t>(blockIdx.x) * kRows;
  const int output0 = static_cast<int>(blockIdx.y) * kOutputs;
  if (pixel0 >= pixels) return;
  const ProductWeights& product = args.product;
  const int kernel = product.taps == 9 ? 3 : 1;
  MapSource source;
  source.input = args.input.item(item);
  source.time = args.input.length(item);
  source.plane = static_cast<std::int64_t>(args.in_frequency) * source.time;
  source.channels = product.columns;
  source.frequency = args.in_frequency;
  source.kernel = kernel;
  const std::int64_t own = pixel0 + threadIdx.x % kRows;
  const int f = static_cast<int>(own / length), t = static_cast<int>(own % length);
  source.first_f = f * args.stride_frequency - kernel / 2;
  source.first_t = t * args.stride_time - kernel / 2;
  float sum[8][4] = {};
  const int pitch = (product.outputs + kOutputAlign - 1) / kOutputAlign * kOutputAlign;
  multiply(tile, source, product.weights + output0, pitch, product.taps,
           (product.columns + kSlab - 1) / kSlab, sum);
  float* const output = args.output.item(item);
  const float* const residual = args.residual.base != nullptr ? args.residual.item(item) : nullptr;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int channel = output0 + T::template first_output<true>() + j;
    if (channel >= product.outputs) continue;
    const float bias = product.bias[channel];
    const std::int64_t line = static_cast<std::int64_t>(channel) * pixels;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const std::int64_t pixel = pixel0 + T::template first_row<true>() + T::row_of(i);
      if (pixel >= pixels) continue;
      float y = sum[i][j] + bias;
      if (residual != nullptr) y += residual[line + pixel];
      output[line + pixel] = activate(y, args.slope);
    }
  }
}

/// How much work a tile makes of a product, empty rows and outputs included; small tiles load more
/// for what they multiply.
double cost(std::int64_t rows, int outputs, int tile_rows, int tile_outputs, double factor) {
  const auto tiles =
      (rows + tile_rows - 1) / tile_rows * ((outputs + tile_outputs - 1) / tile_outputs);
  return static_cast<double>(tiles) * tile_rows * tile_outputs * factor;
}

template <int kRows, int kOutputs>
void start_rows(const RowProduct& args, int items, int longest, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((longest + kRows - 1) / kRows),
                  static_cast<unsigned>((args.product.outputs + kOutputs - 1) / kOutputs),
                  static_cast<unsigned>(items));
  if (args.product.pre_scale != nullptr)
    row_product<kRows, kOutputs, true><<<grid, Tile<kRows, kOutputs>::kThreads, 0, stream>>>(args);
  else
    row_product<kRows, kOutputs, false><<<grid, Tile<kRows, kOutputs>::kThreads, 0, stream>>>(args);
}

template <int kRows, int kOutputs>
void start_maps(const MapProduct& args, int items, std::int64_t pixels, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((pixels + kRows - 1) / kRows),
                  static_cast<unsigned>((args.product.outputs + kOutputs - 1) / kOutputs),
                  static_cast<unsigned>(items));
  map_product<kRows, kOutputs><<<grid, Tile<kRows, kOutputs>::kThreads, 0, stream>>>(args);
}

}  // namespace

std::vector<float> pack_product(const float* weight, int outputs, int columns, int taps) {
  const auto rows = static_cast<std::size_t>(rounded(columns, kSlab));
  const auto pitch = static_cast<std::size_t>(rounded(outputs, kOutputAlign));
  std::vector<float> packed(static_cast<std::size_t>(taps) * rows * pitch, 0.0F);
  const float* from = weight;
  for (std::size_t o = 0; o < static_cast<std::size_t>(outputs); ++o)
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c)
      for (std::size_t tap = 0; tap < static_cast<std::size_t>(taps); ++tap)
        packed[(tap * rows + c) * pitch + o] = *from++;
  return packed;
}

cudaError_t launch_row_product(const RowProduct& args, int items, int longest,
                               cudaStream_t stream) {
  if (longest < 1) return cudaSuccess;
  const int outputs = args.product.outputs;
  struct Candidate {
    void (*start)(const RowProduct&, int, int, cudaStream_t);
    double cost;
  };
  const Candidate candidates[] = {{start_rows<64, 64>, cost(longest, outputs, 64, 64, 1.0)},
                                  {start_rows<128, 32>, cost(longest, outputs, 128, 32, 1.05)},
                                  {start_rows<32, 64>, cost(longest, outputs, 32, 64, 1.15)},
                                  {start_rows<64, 32>, cost(longest, outputs, 64, 32, 1.15)}};
  const Candidate* best = candidates;
  for (const Candidate& each : candidates)
    if (each.cost < best->cost) best = &each;
  best->start(args, items, longest, stream);
  return cudaGetLastError();
}

cudaError_t launch_map_product(const MapProduct& args, int items, int longest,
                               cudaStream_t stream) {
  if (args.product.taps != 9 && args.product.taps != 1) return cudaErrorNotSupported;
  if (longest < 1) return cudaSuccess;
  const std::int64_t pixels = static_cast<std::int64_t>(args.out_frequency) * longest;
  if (args.product.outputs <= 32)
    start_maps<128, 32>(args, items, pixels, stream);
  else
    start_maps<64, 64>(args, items, pixels, stream);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda::blocks
