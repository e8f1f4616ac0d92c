// Log-mel features: one warp per frame, four frames per CTA. The 400 windowed samples are a complex
// signal of 256 points in shared memory, transformed in place by radix-2 steps (four butterflies a
// lane), taken apart into the 256 bins of the real transform, and summed up band by band.

#include <cmath>
#include <cstddef>
#include <numbers>

#include "backend/cuda/blocks/front_end.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

constexpr int kHalf = 256, kWarps = 4;

__device__ __forceinline__ double warp_sum(double x) {
  for (int offset = 16; offset > 0; offset >>= 1) x += __shfl_xor_sync(0xFFFFFFFFU, x, offset);
  return x;
}

__device__ __forceinline__ int reversed(int i) {
  return static_cast<int>(__brev(static_cast<unsigned>(i)) >> 24);
}

__global__ void __launch_bounds__(kWarps * 32) log_mel(LogMelArgs args) {
  __shared__ double2 points[kWarps][kHalf];
  __shared__ double power[kWarps][kHalf];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int item = static_cast<int>(blockIdx.y);
  const std::int64_t t = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp;
  if (t >= args.rows.length(item)) return;  // the whole warp; no barrier of the CTA follows
  const LogMelTables& tables = *args.tables;
  const float* const samples = args.samples.item(item) + t * kFrameHop;
  double2* const z = points[warp];

  double sum = 0;
  for (int i = lane; i < kFrameSamples; i += 32)
    sum += args.scale * static_cast<double>(samples[i]);
  const double mean = warp_sum(sum) / kFrameSamples;
  const auto windowed = [&](int i) {
    const double now = args.scale * static_cast<double>(samples[i]) - mean;
    const double before = args.scale * static_cast<double>(samples[i > 0 ? i - 1 : 0]) - mean;
    return (now - 0.97 * before) * tables.window[i];
  };
  for (int i = lane; i < kHalf; i += 32)
    z[reversed(i)] = 2 * i < kFrameSamples ? make_double2(windowed(2 * i), windowed(2 * i + 1))
                                           : make_double2(0, 0);
  __syncwarp();
  for (int half = 1; half < kHalf; half *= 2) {
    const int step = kHalf / half;
    for (int i = lane; i < kHalf / 2; i += 32) {
      const int k = i % half, a = i / half * 2 * half + k, b = a + half;
      const double c = tables.cosine[k * step], s = tables.sine[k * step];
      const double2 x = z[a], y = z[b];
      const double re = c * y.x + s * y.y, im = c * y.y - s * y.x;  // (c - i s) * y
      z[a] = make_double2(x.x + re, x.y + im);
      z[b] = make_double2(x.x - re, x.y - im);
    }
    __syncwarp();
  }
  for (int k = lane; k < kHalf; k += 32) {
    const double2 a = z[k], b = z[(kHalf - k) % kHalf];
    const double even_re = 0.5 * (a.x + b.x), even_im = 0.5 * (a.y - b.y);
    const double odd_re = 0.5 * (a.y + b.y), odd_im = 0.5 * (b.x - a.x);
    const double c = tables.cosine[k], s = tables.sine[k];
    const double re = even_re + c * odd_re + s * odd_im;
    const double im = even_im + c * odd_im - s * odd_re;
    power[warp][k] = re * re + im * im;
  }
  __syncwarp();
  float* const row = args.rows.item(item) + t * kBands;
  for (int band = lane; band < kBands; band += 32) {
    double energy = 0;
    const int first = tables.first_weight[band];
    for (int i = first; i < tables.first_weight[band + 1]; ++i)
      energy += tables.weights[i] * power[warp][tables.first_bin[band] + i - first];
    // A NaN stays one.
    row[band] = static_cast<float>(log(energy < 0x1p-23 ? 0x1p-23 : energy));
  }
}

}  // namespace

LogMelTables make_log_mel_tables(bool hamming) {
  constexpr double kPi = std::numbers::pi;
  LogMelTables tables{};
  for (int i = 0; i < kFrameSamples; ++i) {
    const double wave = std::cos(2 * kPi * i / (kFrameSamples - 1));
    tables.window[i] =
        hamming ? 0.54 - 0.46 * wave : std::pow(std::fmax(0.0, 0.5 - 0.5 * wave), 0.85);
  }
  for (int k = 0; k < kHalf; ++k) {
    tables.cosine[k] = std::cos(2 * kPi * k / 512);
    tables.sine[k] = std::sin(2 * kPi * k / 512);
  }
  const auto mel = [](double hertz) { return 1127.0 * std::log(1.0 + hertz / 700.0); };
  const double low = mel(20.0), spacing = (mel(8000.0) - low) / (kBands + 1);
  int used = 0;
  for (int band = 0; band < kBands; ++band) {
    const double left = low + band * spacing, centre = left + spacing, right = centre + spacing;
    tables.first_weight[band] = used;
    for (int bin = 0; bin < kHalf; ++bin) {  // a triangle's bins are neighbours
      const double m = mel(bin * 31.25);
      const double weight = std::fmin((m - left) / (centre - left), (right - m) / (right - centre));
      if (weight <= 0) continue;
      if (used == tables.first_weight[band]) tables.first_bin[band] = bin;
      tables.weights[used++] = weight;
    }
  }
  tables.first_weight[kBands] = used;
  return tables;
}

cudaError_t launch_log_mel(const LogMelArgs& args, int items, int longest, cudaStream_t stream) {
  if (longest < 1) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((longest + kWarps - 1) / kWarps),
                  static_cast<unsigned>(items));
  log_mel<<<grid, kWarps * 32, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace diarist::backend::cuda::blocks
