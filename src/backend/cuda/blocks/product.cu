// Kernels of product.hpp: tiles of tile.cuh, for rows whichever leaves least of itself empty. For
// maps a row is a pixel; they are counted along time, then along frequency, so that short maps fill
// a tile too.

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

template <typename T, bool kPre>
__global__ void __launch_bounds__(T::kThreads) row_product(RowProduct args) {
  __shared__ T tile;
  const int item = static_cast<int>(blockIdx.z), length = args.output.length(item);
  const int t0 = static_cast<int>(blockIdx.x) * T::kRows;
  const int output0 = static_cast<int>(blockIdx.y) * T::kOutputs;
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
  float sum[8][T::kWide] = {};
  const int pitch = (product.outputs + kOutputAlign - 1) / kOutputAlign * kOutputAlign;
  multiply(tile, source, product.weights + output0, pitch, product.taps,
           (product.columns + kSlab - 1) / kSlab, sum);
  float* const output = args.output.item(item);
  const float* const gates = args.gates.base != nullptr ? args.gates.item(item) : nullptr;
  const int column0 = output0 + T::template first_output<false>();
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int t = t0 + T::template first_row<false>() + T::row_of(i);
    if (t >= length) continue;
#pragma unroll
    for (int j = 0; j < T::kWide; ++j) {
      const int column = column0 + T::output_of(j);
      if (column >= product.outputs) continue;
      const float bias = product.bias != nullptr ? product.bias[column] : 0.0F;
      float y = activate(sum[i][j] + bias, args.slope);
      if (gates != nullptr) y *= gates[t / kSegmentFrames * product.outputs + column];
      output[static_cast<std::int64_t>(t) * args.output_pitch + column] = y;
    }
  }
}

/// A thread loads one pixel only, or two, so their places are worked out once.
template <typename T>
struct MapSource {
  static constexpr bool kAlongRows = true;
  const float* input;
  std::int64_t plane;  // numbers of a channel
  int channels, frequency, time, kernel;
  int first_f[T::kRowParts], first_t[T::kRowParts];  // of a pixel's first tap

  const float* at[T::kRowParts];
  int left[T::kRowParts];  // channels from there on; none where the tap lies outside

  __device__ __forceinline__ void seek(int tap, int c, int /*row*/) {
#pragma unroll
    for (int i = 0; i < T::kRowParts; ++i) {
      const int f = first_f[i] + tap / kernel, t = first_t[i] + tap % kernel;
      const bool inside = f >= 0 && f < frequency && t >= 0 && t < time;
      at[i] = input + (c * plane + static_cast<std::int64_t>(f) * time + t);
      left[i] = inside ? channels - c : 0;
    }
  }
  __device__ __forceinline__ float load(int row, int inner) const {
    const int i = row / T::kThreads;
    return inner < left[i] ? at[i][inner * plane] : 0.0F;
  }
  __device__ __forceinline__ float finish(float x) const { return x; }
};

template <typename T>
__global__ void __launch_bounds__(T::kThreads) map_product(MapProduct args) {
  __shared__ T tile;
  const int item = static_cast<int>(blockIdx.z), length = args.output.length(item);
  const std::int64_t pixels = static_cast<std::int64_t>(args.out_frequency) * length;
  const std::int64_t pixel0 = static_cast<std::int64_t>(blockIdx.x) * T::kRows;
  const int output0 = static_cast<int>(blockIdx.y) * T::kOutputs;
  if (pixel0 >= pixels) return;
  const ProductWeights& product = args.product;
  const int kernel = product.taps == 9 ? 3 : 1;
  MapSource<T> source;
  source.input = args.input.item(item);
  source.time = args.input.length(item);
  source.plane = static_cast<std::int64_t>(args.in_frequency) * source.time;
  source.channels = product.columns;
  source.frequency = args.in_frequency;
  source.kernel = kernel;
#pragma unroll
  for (int i = 0; i < T::kRowParts; ++i) {
    const std::int64_t own = pixel0 + threadIdx.x % T::kRows + i * T::kThreads;
    const int f = static_cast<int>(own / length), t = static_cast<int>(own % length);
    source.first_f[i] = f * args.stride_frequency - kernel / 2;
    source.first_t[i] = t * args.stride_time - kernel / 2;
  }
  float sum[8][T::kWide] = {};
  const int pitch = (product.outputs + kOutputAlign - 1) / kOutputAlign * kOutputAlign;
  multiply(tile, source, product.weights + output0, pitch, product.taps,
           (product.columns + kSlab - 1) / kSlab, sum);
  float* const output = args.output.item(item);
  const float* const residual = args.residual.base != nullptr ? args.residual.item(item) : nullptr;
#pragma unroll
  for (int j = 0; j < T::kWide; ++j) {
    const int channel = output0 + T::template first_output<true>() + T::output_of(j);
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

unsigned count(std::int64_t n, int per_tile) {
  return static_cast<unsigned>((n + per_tile - 1) / per_tile);
}

template <typename T>
dim3 grid_of(std::int64_t rows, int outputs, int items) {
  return dim3(count(rows, T::kRows), count(outputs, T::kOutputs), static_cast<unsigned>(items));
}

template <typename T>
void start_rows(const RowProduct& args, int items, int longest, cudaStream_t stream) {
  const dim3 grid = grid_of<T>(longest, args.product.outputs, items);
  if (args.product.pre_scale != nullptr)
    row_product<T, true><<<grid, T::kThreads, 0, stream>>>(args);
  else
    row_product<T, false><<<grid, T::kThreads, 0, stream>>>(args);
}

template <typename T>
void start_maps(const MapProduct& args, int items, std::int64_t pixels, cudaStream_t stream) {
  map_product<T><<<grid_of<T>(pixels, args.product.outputs, items), T::kThreads, 0, stream>>>(args);
}

struct RowTile {
  void (*start)(const RowProduct&, int, int, cudaStream_t);
  int rows, outputs;
  double factor;  // of the time: small tiles load more for what they multiply
};

// Eight outputs per thread are slower here: too few threads for the registers they take.
constexpr RowTile kRowTiles[] = {{start_rows<Tile<64, 64, 4>>, 64, 64, 1.0},
                                 {start_rows<Tile<128, 32, 4>>, 128, 32, 1.05},
                                 {start_rows<Tile<32, 64, 4>>, 32, 64, 1.15},
                                 {start_rows<Tile<64, 32, 4>>, 64, 32, 1.15}};

/// How much work a tile makes of a product, empty rows and outputs included.
double cost(const RowTile& tile, int rows, int outputs) {
  return double{1} * count(rows, tile.rows) * tile.rows * count(outputs, tile.outputs) *
         tile.outputs * tile.factor;
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
  const RowTile* best = kRowTiles;
  for (const RowTile& tile : kRowTiles)
    if (cost(tile, longest, outputs) < cost(*best, longest, outputs)) best = &tile;
  best->start(args, items, longest, stream);
  return cudaGetLastError();
}

cudaError_t launch_map_product(const MapProduct& args, int items, int longest,
                               cudaStream_t stream) {
  const ProductWeights& product = args.product;
  if (product.taps != 9 && product.taps != 1) return cudaErrorNotSupported;
  if (longest < 1) return cudaSuccess;
  const std::int64_t pixels = std::int64_t{args.out_frequency} * longest;
  if (product.outputs > 32)
    start_maps<Tile<64, 64, 4>>(args, items, pixels, stream);
  else if (product.taps == 9)
    start_maps<Tile<128, 32, 8>>(args, items, pixels, stream);
  else
    start_maps<Tile<128, 32, 4>>(args, items, pixels, stream);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda::blocks
