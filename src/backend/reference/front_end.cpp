// Log-mel features and the sinc front end (models.md (a), (b) 1 to 5; campplus.md (a)).

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "backend/reference/layers.hpp"

namespace diarist::backend::reference {
namespace {

constexpr int kFrame = 400;
constexpr int kHop = 160;
constexpr int kTransform = 512;
constexpr int kBins = 256;  // the Nyquist bin has no weight in any band
constexpr int kBands = 80;
constexpr double kPi = std::numbers::pi;

/// cos and sin of 2*pi*k*i/512 at [i * kBins + k], i a sample and k a bin.
struct Waves {
  std::vector<double> cosine = std::vector<double>(kFrame * kBins);
  std::vector<double> sine = std::vector<double>(kFrame * kBins);
  Waves() {
    for (int i = 0; i < kFrame; ++i) {
      for (int k = 0; k < kBins; ++k) {
        const double angle = 2 * kPi * ((i * k) % kTransform) / kTransform;
        cosine[i * kBins + k] = std::cos(angle);
        sine[i * kBins + k] = std::sin(angle);
      }
    }
  }
};

double mel(double hertz) { return 1127.0 * std::log(1.0 + hertz / 700.0); }

/// Triangles, linear in mel: [bands, bins].
std::vector<double> mel_weights() {
  std::vector<double> weights(kBands * kBins);
  const double low = mel(20.0);
  const double step = (mel(8000.0) - low) / (kBands + 1);
  for (int band = 0; band < kBands; ++band) {
    const double left = low + band * step;
    const double centre = low + (band + 1) * step;
    const double right = low + (band + 2) * step;
    for (int bin = 0; bin < kBins; ++bin) {
      const double m = mel(bin * 16000.0 / kTransform);
      const double weight = std::min((m - left) / (centre - left), (right - m) / (right - centre));
      weights[band * kBins + bin] = std::max(0.0, weight);
    }
  }
  return weights;
}

std::array<double, kFrame> window_of(model::LogMel::Window kind) {
  std::array<double, kFrame> window{};
  for (int i = 0; i < kFrame; ++i) {
    const double wave = std::cos(2 * kPi * i / (kFrame - 1));
    window[i] = kind == model::LogMel::Window::kHamming ? 0.54 - 0.46 * wave
                                                        : std::pow(0.5 - 0.5 * wave, 0.85);
  }
  return window;
}

}  // namespace

void run_log_mel(const model::LogMel& block, const Array& samples, Array& out) {
  static const Waves kWaves;
  static const std::vector<double> kTriangles = mel_weights();
  const std::array<double, kFrame> window = window_of(block.window);
  const double floor = std::ldexp(1.0, -23);
  std::array<double, kFrame> frame{};
  std::array<double, kBins> real{}, imaginary{};
  for (std::int64_t t = 0; t < out.dim(0); ++t) {
    const double* x = samples.at(t * kHop);
    double mean = 0;
    for (int i = 0; i < kFrame; ++i) mean += x[i] * block.scale;
    mean /= kFrame;
    for (int i = 0; i < kFrame; ++i) {
      const double now = x[i] * block.scale - mean;
      const double before = x[std::max(i - 1, 0)] * block.scale - mean;
      frame[i] = (now - 0.97 * before) * window[i];
    }
    real.fill(0);
    imaginary.fill(0);
    for (int i = 0; i < kFrame; ++i) {
      const double* cosine = kWaves.cosine.data() + i * kBins;
      const double* sine = kWaves.sine.data() + i * kBins;
      for (int k = 0; k < kBins; ++k) {
        real[k] += frame[i] * cosine[k];
        imaginary[k] += frame[i] * sine[k];
      }
    }
    for (int band = 0; band < kBands; ++band) {
      double energy = 0;
      for (int k = 0; k < kBins; ++k) {
        const double power = real[k] * real[k] + imaginary[k] * imaginary[k];
        energy += power * kTriangles[band * kBins + k];
      }
      *out.at(t * kBands + band) = std::log(std::max(energy, floor));
    }
  }
}

void run_sinc_convolution(const model::SincConvolution& block, const Array& samples, Array& out) {
  const std::int64_t filters = block.filters.dim(0);
  const std::int64_t taps = block.filters.dim(1);
  const std::vector<double> by_tap = transposed(block.filters, filters, taps);
  for (std::int64_t t = 0; t < out.dim(0); ++t) {
    double* y = out.at(t * filters);
    for (std::int64_t k = 0; k < taps; ++k) {
      const double x = *samples.at(t * block.stride + k);
      const double* w = by_tap.data() + k * filters;
      for (std::int64_t f = 0; f < filters; ++f) y[f] += w[f] * x;
    }
  }
}

void run_sinc_pool(const model::SincPool& block, const Array& samples, const Array& raw,
                   Array& out) {
  // The waveform's norm is y = gain*x + offset, and the convolution of that is
  // gain*raw + offset*(sum of the taps).
  double mean = 0;
  for (const double x : samples.values) mean += x;
  mean /= static_cast<double>(samples.values.size());
  double variance = 0;
  for (const double x : samples.values) variance += (x - mean) * (x - mean);
  variance /= static_cast<double>(samples.values.size());
  const double gain = block.waveform.weight.values()[0] / std::sqrt(variance + 1e-5);
  const double offset = block.waveform.bias.values()[0] - mean * gain;

  const std::int64_t filters = block.filters.dim(0);
  const std::int64_t taps = block.filters.dim(1);
  std::vector<double> shift(filters, 0.0);
  for (std::int64_t f = 0; f < filters; ++f) {
    for (std::int64_t k = 0; k < taps; ++k) shift[f] += block.filters.values()[f * taps + k];
    shift[f] *= offset;
  }
  Array absolute;
  absolute.reset(raw.shape);
  for (std::int64_t t = 0; t < raw.dim(0); ++t) {
    for (std::int64_t f = 0; f < filters; ++f) {
      *absolute.at(t * filters + f) = std::abs(gain * *raw.at(t * filters + f) + shift[f]);
    }
  }
  pool_three_rows(absolute, out);
  normalize_columns(block.norm, out);
  activate(model::Activation::kLeakyRelu, out.values);
}

}  // namespace diarist::backend::reference
