// Layers on maps [channels, frequency, time].

#include <algorithm>

#include "backend/reference/layers.hpp"

namespace diarist::backend::reference {
namespace {

/// y[t] += w * x[t*stride + shift] wherever x exists; n values of y, m of x.
void add_tap(double w, const double* x, std::int64_t m, std::int64_t shift, std::int64_t stride,
             double* y, std::int64_t n) {
  for (std::int64_t t = 0; t < n; ++t) {
    const std::int64_t from = t * stride + shift;
    if (from >= 0 && from < m) y[t] += w * x[from];
  }
}

/// The three taps of one kernel row at stride 1 and padding 1: n values of x and of y.
void add_three_taps(const float* w, const double* x, double* y, std::int64_t n) {
  const double w0 = w[0];
  const double w1 = w[1];
  const double w2 = w[2];
  if (n == 1) {
    y[0] += w1 * x[0];
    return;
  }
  y[0] += w1 * x[0] + w2 * x[1];
  for (std::int64_t t = 1; t < n - 1; ++t) y[t] += w0 * x[t - 1] + w1 * x[t] + w2 * x[t + 1];
  y[n - 1] += w0 * x[n - 2] + w1 * x[n - 1];
}

/// Convolution with bias; `kernel` is 3 (padded by 1) or 1.
void convolve(const model::TensorF& weight, const model::TensorF& bias, std::int64_t stride_f,
              std::int64_t stride_t, const Array& map, Array& out) {
  const std::int64_t in = map.dim(0);
  const std::int64_t in_f = map.dim(1);
  const std::int64_t in_t = map.dim(2);
  const std::int64_t out_f = out.dim(1);
  const std::int64_t out_t = out.dim(2);
  const std::int64_t kernel = weight.dim(2);
  const std::int64_t padding = kernel / 2;
  if (out_t == 0) return;
  for (std::int64_t o = 0; o < out.dim(0); ++o) {
    for (std::int64_t f = 0; f < out_f; ++f) {
      double* y = out.at((o * out_f + f) * out_t);
      std::fill(y, y + out_t, static_cast<double>(bias.values()[o]));
      for (std::int64_t i = 0; i < in; ++i) {
        for (std::int64_t kf = 0; kf < kernel; ++kf) {
          const std::int64_t from = f * stride_f + kf - padding;
          if (from < 0 || from >= in_f) continue;
          const double* x = map.at((i * in_f + from) * in_t);
          const float* w = weight.data() + ((o * in + i) * kernel + kf) * kernel;
          if (kernel == 3 && stride_t == 1) {
            add_three_taps(w, x, y, out_t);
            continue;
          }
          for (std::int64_t kt = 0; kt < kernel; ++kt) {
            add_tap(w[kt], x, in_t, kt - padding, stride_t, y, out_t);
          }
        }
      }
    }
  }
}

}  // namespace

void run_stem(const model::Stem& block, const Array& rows, Array& out) {
  const std::int64_t frames = rows.dim(0);
  const std::int64_t bands = rows.dim(1);
  Array image;
  image.reset({1, bands, frames});
  for (std::int64_t b = 0; b < bands; ++b) {
    double mean = 0;
    if (block.remove_mean) {
      for (std::int64_t t = 0; t < frames; ++t) mean += *rows.at(t * bands + b);
      mean /= static_cast<double>(frames);
    }
    for (std::int64_t t = 0; t < frames; ++t) {
      *image.at(b * frames + t) = *rows.at(t * bands + b) - mean;
    }
  }
  convolve(block.weight, block.bias, 1, 1, image, out);
  activate(model::Activation::kRelu, out.values);
}

void run_conv2d(const model::Conv2d& block, const Array& map, const Array* residual, Array& out) {
  convolve(block.weight, block.bias, block.stride_frequency, block.stride_time, map, out);
  if (residual != nullptr) {
    for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] += residual->values[i];
  }
  if (block.relu) activate(model::Activation::kRelu, out.values);
}

void run_map_to_rows(const Array& map, Array& out) {
  const std::int64_t columns = map.dim(0) * map.dim(1);
  const std::int64_t frames = map.dim(2);
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t t = 0; t < frames; ++t) *out.at(t * columns + c) = *map.at(c * frames + t);
  }
}

}  // namespace diarist::backend::reference
