#pragma once
// Samples on both sides of a centre added and subtracted: filters that are their own mirror image
// need half the products of these.

#include <cstdint>

namespace diarist::backend::cpu {

struct MirrorKernels {
  std::int64_t target;  // Highway's bit of the set that this table was compiled for

  /// For windows of `taps` samples, `stride` apart, k below taps / 2: sums[window][k] =
  /// x[k] + x[taps - 1 - k] and differences[window][k] = x[k] - x[taps - 1 - k]. With an odd number
  /// of taps the sample in the middle follows in `sums`. Rows of both are `row` floats apart.
  void (*fold)(const float* samples, std::int64_t stride, std::int64_t windows, int taps,
               std::int64_t row, float* sums, float* differences);
};

const MirrorKernels& mirror_kernels(std::int64_t target);

}  // namespace diarist::backend::cpu
