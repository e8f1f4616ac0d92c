#pragma once
// What the checks of single kernels share: arrays on the GPU between guard bytes, random numbers, a
// plain convolution in doubles.

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "gpu_needed.hpp"

#define DIARIST_CUDA_OK(call)                                     \
  do {                                                            \
    const cudaError_t status = (call);                            \
    ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status); \
  } while (false)

namespace diarist::test {

/// Elements on the GPU between two guards. Starts as 0xFF bytes: NaN as half and as float.
template <typename T>
class GuardedArray {
 public:
  explicit GuardedArray(std::size_t count) : count_(count) {
    std::vector<unsigned char> bytes(count * sizeof(T) + 2 * kGuard, kPattern);
    std::fill_n(bytes.begin() + kGuard, count * sizeof(T), static_cast<unsigned char>(0xFF));
    ok_ = cudaMalloc(reinterpret_cast<void**>(&base_), bytes.size()) == cudaSuccess &&
          cudaMemcpy(base_, bytes.data(), bytes.size(), cudaMemcpyHostToDevice) == cudaSuccess;
  }
  explicit GuardedArray(const std::vector<T>& values) : GuardedArray(values.size()) {
    ok_ = ok_ && cudaMemcpy(data(), values.data(), values.size() * sizeof(T),
                            cudaMemcpyHostToDevice) == cudaSuccess;
  }
  ~GuardedArray() { cudaFree(base_); }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;

  T* data() const { return reinterpret_cast<T*>(base_ + kGuard); }

  /// Waits for the GPU; fails the test when a guard was written or a call failed.
  std::vector<T> values() const {
    std::vector<unsigned char> bytes(count_ * sizeof(T) + 2 * kGuard);
    EXPECT_TRUE(ok_) << "allocation or upload of " << bytes.size() << " bytes";
    const cudaError_t error = cudaDeviceSynchronize();
    EXPECT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
    EXPECT_EQ(cudaMemcpy(bytes.data(), base_, bytes.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    const auto intact = [&](std::size_t from) {
      return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                         bytes.begin() + static_cast<std::ptrdiff_t>(from + kGuard),
                         [](unsigned char byte) { return byte == kPattern; });
    };
    EXPECT_TRUE(intact(0)) << "written before the array";
    EXPECT_TRUE(intact(bytes.size() - kGuard)) << "written behind the array";
    std::vector<T> result(count_);
    std::memcpy(result.data(), bytes.data() + kGuard, count_ * sizeof(T));
    return result;
  }

 private:
  static constexpr std::size_t kGuard = 4096;
  static constexpr unsigned char kPattern = 0xA5;
  std::size_t count_;
  unsigned char* base_ = nullptr;
  bool ok_ = false;
};

/// Uniform in [low, high), the same on every machine.
inline std::vector<float> random_floats(std::size_t count, float low, float high, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float& value : values)
    value = low + (high - low) * static_cast<float>(engine() >> 8) / 16777216.0F;
  return values;
}

/// A convolution on maps [item][frequency][time][channels], weights [cout, cin, k, k].
struct PlainConv {
  int taps = 9, stride = 1, cin = 32, cout = 32;
  int in_f = 1, in_t = 1, items = 1;
  bool relu = true;

  int out_f() const { return (in_f - 1) / stride + 1; }
  int out_t() const { return (in_t - 1) / stride + 1; }
  std::size_t inputs() const {
    return static_cast<std::size_t>(items) * static_cast<std::size_t>(in_f * in_t * cin);
  }
  std::size_t outputs() const {
    return static_cast<std::size_t>(items) * static_cast<std::size_t>(out_f() * out_t() * cout);
  }
  std::size_t weights() const { return static_cast<std::size_t>(cout * cin * taps); }

  /// \param residual empty: none.
  std::vector<double> run(const std::vector<double>& input, const std::vector<double>& weight,
                          const std::vector<float>& bias,
                          const std::vector<double>& residual) const {
    const int kernel = taps == 9 ? 3 : 1, pad = kernel / 2;
    // [tap][cin][cout], so that the inner loop is straight.
    std::vector<double> straight(weight.size());
    for (int o = 0; o < cout; ++o)
      for (int c = 0; c < cin; ++c)
        for (int tap = 0; tap < taps; ++tap)
          straight[static_cast<std::size_t>((tap * cin + c) * cout + o)] =
              weight[static_cast<std::size_t>((o * cin + c) * taps + tap)];
    std::vector<double> output(outputs());
    for (int row = 0; row < items * out_f(); ++row)
      for (int t = 0; t < out_t(); ++t) {
        const std::size_t at =
            static_cast<std::size_t>(row * out_t() + t) * static_cast<std::size_t>(cout);
        double* y = &output[at];
        for (int o = 0; o < cout; ++o) y[o] = double{bias[static_cast<std::size_t>(o)]};
        for (int tap = 0; tap < taps; ++tap) {
          const int f_in = row % out_f() * stride - pad + tap / kernel;
          const int t_in = t * stride - pad + tap % kernel;
          if (f_in < 0 || f_in >= in_f || t_in < 0 || t_in >= in_t) continue;
          const double* x =
              &input[static_cast<std::size_t>(((row / out_f() * in_f + f_in) * in_t + t_in) * cin)];
          for (int c = 0; c < cin; ++c) {
            const double* w = &straight[static_cast<std::size_t>((tap * cin + c) * cout)];
            for (int o = 0; o < cout; ++o) y[o] += x[c] * w[o];
          }
        }
        for (int o = 0; o < cout; ++o) {
          if (!residual.empty()) y[o] += residual[at + static_cast<std::size_t>(o)];
          if (relu) y[o] = std::max(y[o], 0.0);
        }
      }
    return output;
  }
};

/// Largest difference over the largest wanted magnitude; infinite when a value is NaN.
template <typename T>
double relative_error(const std::vector<T>& got, const std::vector<double>& wanted) {
  double difference = 0, scale = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double d = std::fabs(static_cast<double>(got[i]) - wanted[i]);
    if (!(d <= difference)) difference = std::isnan(d) ? INFINITY : d;
    scale = std::max(scale, std::fabs(wanted[i]));
  }
  return scale > 0 ? difference / scale : difference;
}

/// Halves as they lie in a map: [pixel][channels], or [pixel][2][channels] in split mode.
inline std::vector<std::uint16_t> to_half_map(const std::vector<float>& values, int channels,
                                              bool split) {
  const auto bits = [](__half value) {
    std::uint16_t result = 0;
    std::memcpy(&result, &value, sizeof(result));
    return result;
  };
  const std::size_t width = static_cast<std::size_t>(channels);
  std::vector<std::uint16_t> map;
  map.reserve(values.size() * (split ? 2 : 1));
  for (std::size_t pixel = 0; pixel < values.size() / width; ++pixel) {
    const float* x = &values[pixel * width];
    for (std::size_t c = 0; c < width; ++c) map.push_back(bits(__float2half_rn(x[c])));
    if (!split) continue;
    for (std::size_t c = 0; c < width; ++c)
      map.push_back(bits(__float2half_rn(x[c] - __half2float(__float2half_rn(x[c])))));
  }
  return map;
}

/// Back to doubles, high and low parts added.
inline std::vector<double> from_half_map(const std::vector<std::uint16_t>& map, int channels,
                                         bool split) {
  const auto value = [](std::uint16_t bits) {
    __half half;
    std::memcpy(static_cast<void*>(&half), &bits, sizeof(bits));
    return static_cast<double>(__half2float(half));
  };
  const std::size_t width = static_cast<std::size_t>(channels), parts = split ? 2 : 1;
  std::vector<double> values;
  values.reserve(map.size() / parts);
  for (std::size_t pixel = 0; pixel < map.size() / width / parts; ++pixel)
    for (std::size_t c = 0; c < width; ++c) {
      const std::uint16_t* x = &map[pixel * width * parts + c];
      values.push_back(value(x[0]) + (split ? value(x[width]) : 0.0));
    }
  return values;
}

}  // namespace diarist::test
