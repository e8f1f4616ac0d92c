// A warp makes four frames, one after the other. The real 512-point transform is a complex one of
// 256 points over (even, odd) samples, eight points a lane: 8 x 8 x 4, with exchanges through the
// warp's own piece of shared memory. In double up to the power of a bin, so that weak bands beside
// a strong tone keep their digits: on data-centre GPUs this costs as good as nothing, on others
// about one hundredth of the networks. Bands are summed and their logarithms taken in FP32.

#include <cmath>
#include <numbers>

#include "backend/cuda/kernels/log_mel.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kWarps = 8, kFramesPerWarp = 4, kFramesPerBlock = kWarps * kFramesPerWarp;
constexpr int kPoints = 256, kPieces = 8;  // complex points; of a lane
constexpr int kPitch = 36;  // points of one first-stage output, padded against bank conflicts
constexpr unsigned kAll = 0xFFFFFFFFU;

struct Complex {
  double re, im;
};

__device__ __forceinline__ Complex operator+(Complex a, Complex b) {
  return {a.re + b.re, a.im + b.im};
}
__device__ __forceinline__ Complex operator-(Complex a, Complex b) {
  return {a.re - b.re, a.im - b.im};
}
// a times the conjugate of w: e^(-i angle) for w = (cos, sin).
__device__ __forceinline__ Complex turned(Complex a, double2 w) {
  return {fma(a.re, w.x, a.im * w.y), fma(a.im, w.x, -(a.re * w.y))};
}

__device__ __forceinline__ void transform_4(Complex (&x)[4]) {
  const Complex a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = x[1] - x[3];
  x[0] = a + c;
  x[1] = {b.re + d.im, b.im - d.re};
  x[2] = a - c;
  x[3] = {b.re - d.im, b.im + d.re};
}

__device__ __forceinline__ void transform_8(Complex (&x)[kPieces]) {
  Complex even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
  transform_4(even);
  transform_4(odd);
  constexpr double kHalfRoot = 0.70710678118654752440;
  const Complex turns[4] = {
      odd[0],
      {(odd[1].re + odd[1].im) * kHalfRoot, (odd[1].im - odd[1].re) * kHalfRoot},
      {odd[2].im, -odd[2].re},
      {(odd[3].im - odd[3].re) * kHalfRoot, -(odd[3].re + odd[3].im) * kHalfRoot}};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    x[k] = even[k] + turns[k];
    x[k + 4] = even[k] - turns[k];
  }
}

// Steps 1 to 5: scale, mean, pre-emphasis, window. Lane l gets points l, l + 32, ...
__device__ __forceinline__ void prepare_frame(const float* x, double scale, const double* window,
                                              int lane, Complex (&z)[kPieces]) {
  double even[kPieces], odd[kPieces], sum = 0;
#pragma unroll
  for (int r = 0; r < kPieces; ++r) {
    const int at = 2 * (lane + 32 * r);
    even[r] = at < kMelFrame ? scale * static_cast<double>(x[at]) : 0.0;
    odd[r] = at < kMelFrame ? scale * static_cast<double>(x[at + 1]) : 0.0;
    sum += even[r] + odd[r];
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(kAll, sum, distance);
  const double mean = sum / kMelFrame;
#pragma unroll
  for (int r = 0; r < kPieces; ++r) {
    // The sample before an even one is its left neighbour's odd one; the first repeats itself.
    double before = __shfl_up_sync(kAll, odd[r], 1);
    const double wrapped = r > 0 ? __shfl_sync(kAll, odd[r > 0 ? r - 1 : 0], 31) : even[0];
    if (lane == 0) before = wrapped;
    const int at = 2 * (lane + 32 * r);
    if (at < kMelFrame) {
      const double a = even[r] - mean, b = odd[r] - mean;
      z[r] = {(a - 0.97 * (before - mean)) * window[at], (b - 0.97 * a) * window[at + 1]};
    } else {
      z[r] = {0, 0};
    }
  }
}

// What a lane multiplies with between the stages.
struct Twiddles {
  double2 first[kPieces], second[kPieces];
};

// 256 points, point lane + 32 r in z[r]; the result lies in order in `points`.
__device__ __forceinline__ void transform_256(Complex (&z)[kPieces], const Twiddles& twiddles,
                                              double2* points, int lane) {
  transform_8(z);
#pragma unroll
  for (int k = 0; k < kPieces; ++k) {
    const Complex turn = k == 0 ? z[0] : turned(z[k], twiddles.first[k]);
    points[k * kPitch + lane] = make_double2(turn.re, turn.im);
  }
  __syncwarp();
  // Lane 4 k + m takes points m, m + 4, ... of the k-th 32-point transform, and writes where it
  // read.
  double2* const mine = points + lane / 4 * kPitch + lane % 4;
#pragma unroll
  for (int r = 0; r < kPieces; ++r) z[r] = {mine[4 * r].x, mine[4 * r].y};
  transform_8(z);
#pragma unroll
  for (int j = 0; j < kPieces; ++j) {
    const Complex turn = j == 0 ? z[0] : turned(z[j], twiddles.second[j]);
    mine[4 * j] = make_double2(turn.re, turn.im);
  }
  __syncwarp();
  Complex last[2][4];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const double2* const four = points + lane % 8 * kPitch + (lane / 8 + 4 * h) * 4;
#pragma unroll
    for (int m = 0; m < 4; ++m) last[h][m] = {four[m].x, four[m].y};
    transform_4(last[h]);
  }
  __syncwarp();
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int m = 0; m < 4; ++m)
      points[lane + 32 * h + 64 * m] = make_double2(last[h][m].re, last[h][m].im);
  __syncwarp();
}

__global__ void __launch_bounds__(kWarps * 32) log_mel(const __grid_constant__ LogMelArgs args) {
  __shared__ double2 points[kWarps][kPieces * kPitch];
  __shared__ double window[kMelFrame];
  __shared__ float weight[512];
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
  const int item = static_cast<int>(blockIdx.y), length = args.items.length[item];
  const int frames = length < kMelFrame ? 0 : (length - kMelFrame) / kMelHop + 1;
  if (static_cast<int>(blockIdx.x) * kFramesPerBlock >= frames) return;
  const LogMelTables& tables = *args.tables;
  for (int i = threadIdx.x; i < kMelFrame; i += kWarps * 32) window[i] = tables.window[i];
  for (int i = threadIdx.x; i < 512; i += kWarps * 32) weight[i] = tables.weight[i];
  __syncthreads();
  const double2* const wave = reinterpret_cast<const double2*>(tables.wave);
  Twiddles twiddles;
#pragma unroll
  for (int k = 0; k < kPieces; ++k) {
    twiddles.first[k] = wave[2 * lane * k % 512];
    twiddles.second[k] = wave[16 * (lane % 4) * k % 512];
  }
  int start[3], count[3], bin[3];
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    const int band = lane + 32 * j;
    start[j] = band < kMelBands ? tables.start[band] : 0;
    count[j] = band < kMelBands ? tables.start[band + 1] - start[j] : 0;
    bin[j] = band < kMelBands ? tables.bin[band] : 0;
  }
  float* const power = reinterpret_cast<float*>(points[warp]);
  for (int i = 0; i < kFramesPerWarp; ++i) {
    const int frame = static_cast<int>(blockIdx.x) * kFramesPerBlock + warp * kFramesPerWarp + i;
    if (frame >= frames) return;
    const float* x =
        args.samples + args.items.input[item] + static_cast<std::int64_t>(frame) * kMelHop;
    Complex z[kPieces];
    prepare_frame(x, static_cast<double>(args.scale), window, lane, z);
    __syncwarp();
    transform_256(z, twiddles, points[warp], lane);
    // Bins of the real transform from points k and 256 - k.
    float powers[kPieces];
#pragma unroll
    for (int j = 0; j < kPieces; ++j) {
      const int k = lane + 32 * j;
      const double2 a = points[warp][k], b = points[warp][(kPoints - k) % kPoints];
      const Complex even = {0.5 * (a.x + b.x), 0.5 * (a.y - b.y)};
      const Complex odd = {0.5 * (a.y + b.y), 0.5 * (b.x - a.x)};
      const Complex bin_value = even + turned(odd, wave[k]);
      powers[j] = static_cast<float>(bin_value.re * bin_value.re + bin_value.im * bin_value.im);
    }
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kPieces; ++j) power[lane + 32 * j] = powers[j];
    __syncwarp();
    float* const out =
        args.rows + args.items.output[item] + static_cast<std::int64_t>(frame) * kMelBands;
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      float energy = 0;
      for (int n = 0; n < count[j]; ++n)
        energy = fmaf(weight[start[j] + n], power[bin[j] + n], energy);
      if (lane + 32 * j < kMelBands) out[lane + 32 * j] = logf(fmaxf(energy, 0x1p-23F));
    }
  }
}

}  // namespace

LogMelTables log_mel_tables(const model::LogMel& block) {
  constexpr double kPi = std::numbers::pi;
  LogMelTables tables{};
  for (int k = 0; k < 512; ++k) {
    tables.wave[k][0] = std::cos(2 * kPi * k / 512);
    tables.wave[k][1] = std::sin(2 * kPi * k / 512);
  }
  for (int i = 0; i < kMelFrame; ++i) {
    const double c = std::cos(2 * kPi * i / (kMelFrame - 1));
    tables.window[i] = block.window == model::LogMel::Window::kHamming
                           ? 0.54 - 0.46 * c
                           : std::pow(std::fmax(0.0, 0.5 - 0.5 * c), 0.85);
  }
  const auto mel = [](double hertz) { return 1127.0 * std::log(1.0 + hertz / 700.0); };
  const double low = mel(20.0), spacing = (mel(8000.0) - low) / (kMelBands + 1);
  int used = 0;
  for (int band = 0; band < kMelBands; ++band) {
    const double left = low + band * spacing, centre = low + (band + 1) * spacing;
    const double right = low + (band + 2) * spacing;
    tables.start[band] = used;
    for (int bin = 0; bin < kPoints; ++bin) {
      const double m = mel(bin * 31.25);
      const double weight = std::fmin((m - left) / (centre - left), (right - m) / (right - centre));
      if (weight <= 0) continue;
      if (used == tables.start[band]) tables.bin[band] = bin;
      tables.weight[used++] = static_cast<float>(weight);
    }
  }
  tables.start[kMelBands] = used;
  return tables;
}

cudaError_t launch_log_mel(const LogMelArgs& args, cudaStream_t stream) {
  int longest = 0;
  for (int i = 0; i < args.items.count; ++i)
    longest = args.items.length[i] > longest ? args.items.length[i] : longest;
  if (longest < kMelFrame) return cudaSuccess;
  const int frames = (longest - kMelFrame) / kMelHop + 1;
  const dim3 grid(static_cast<unsigned>((frames + kFramesPerBlock - 1) / kFramesPerBlock),
                  static_cast<unsigned>(args.items.count));
  log_mel<<<grid, kWarps * 32, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda
