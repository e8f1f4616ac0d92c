// The sinc convolution. Its filters come in two kinds: even ones (cosines), which read the same
// from both ends, and odd ones (sines), whose second half is the first with the other sign.

#include <algorithm>
#include <cstdint>

#include "backend/cpu/kernels/gemm.hpp"
#include "backend/cpu/kernels/mirror.hpp"
#include "backend/cpu/packed_weights.hpp"
#include "backend/cpu/steps/steps.hpp"

namespace diarist::backend::cpu {
namespace {

using std::int64_t;

/// tap(k) == sign * tap(last - k) for all taps, to the bit (but for the sign of a zero).
bool is_mirrored(const float* filter, int64_t taps, float sign) {
  for (int64_t k = 0; k <= taps / 2; ++k) {
    if (!(filter[k] == sign * filter[taps - 1 - k])) return false;
  }
  return true;
}

/// How many even filters there are in front of odd ones; -1 if there is any other filter.
int64_t even_filters(const base::TensorF& filters) {
  const int64_t count = filters.dim(0);
  const int64_t taps = filters.dim(1);
  int64_t even = 0;
  while (even < count && is_mirrored(filters.data() + even * taps, taps, 1)) ++even;
  for (int64_t c = even; c < count; ++c) {
    if (!is_mirrored(filters.data() + c * taps, taps, -1)) return -1;
  }
  return even;
}

/// Filters [first, first + count), their taps below `depth`.
PackedWeights pack(const GemmKernels& kernels, const base::TensorF& filters, int64_t first,
                   int64_t count, int64_t depth) {
  return {kernels,
          static_cast<int>(count),
          1,
          static_cast<int>(depth),
          [&](int c, int, int k) { return filters.data()[(first + c) * filters.dim(1) + k]; },
          [](int) { return 0.0F; }};
}

/// Any filters.
class SincConvolutionStep : public Step {
 public:
  SincConvolutionStep(const model::SincConvolution& block, const NodeShapes& shapes)
      : target_(shapes.target),
        kernels_(gemm_kernels(shapes.target)),
        stride_(block.stride),
        weights_(pack(kernels_, block.filters, 0, block.filters.dim(0), block.filters.dim(1))) {}

  void run(const StepCall& call) const override {
    Gemm gemm = weights_.gemm();
    const float* samples = call.inputs[0].floats();
    gemm.a = &samples;
    gemm.a_stride = stride_;
    gemm.rows = call.output.time;
    gemm.out = call.output.floats();
    gemm.out_stride = weights_.columns();
    kernels_.run(gemm);
  }
  int64_t scratch_floats(int64_t) const override { return 0; }
  std::string kernel() const override { return "sliding " + gemm_name(target_); }
  std::string reason() const override {
    return "samples are used as overlapping matrix rows; the filters are not mirrored";
  }

 private:
  int64_t target_;
  const GemmKernels& kernels_;
  int stride_;
  PackedWeights weights_;
};

/// Even filters, then odd ones: products with sums and with differences of samples, half as deep.
/// Those of one register tile are made at a time, so that they are still in the first-level cache
/// when they are multiplied.
class MirroredSincStep : public Step {
 public:
  MirroredSincStep(const model::SincConvolution& block, int64_t even, const NodeShapes& shapes)
      : target_(shapes.target),
        mirror_(mirror_kernels(shapes.target)),
        kernels_(gemm_kernels(shapes.target)),
        stride_(block.stride),
        taps_(block.filters.dim(1)),
        row_(packed_stride((taps_ + 1) / 2)),
        rows_(kernels_.tile_rows),
        even_(pack(kernels_, block.filters, 0, even, (taps_ + 1) / 2)),
        odd_(pack(kernels_, block.filters, even, block.filters.dim(0) - even, taps_ / 2)) {}

  void run(const StepCall& call) const override {
    float* const sums = call.scratch;
    float* const differences = sums + rows_ * row_;
    Gemm of_even = even_.gemm();
    Gemm of_odd = odd_.gemm();
    of_even.a_stride = of_odd.a_stride = row_;
    of_even.out_stride = of_odd.out_stride = even_.columns() + odd_.columns();
    const float* const a_even = sums;
    const float* const a_odd = differences;
    of_even.a = &a_even;
    of_odd.a = &a_odd;
    of_even.next = of_odd.weights;
    of_odd.next = of_even.weights;
    for (int64_t row = 0; row < call.output.time; row += rows_) {
      const int64_t count = std::min(rows_, call.output.time - row);
      mirror_.fold(call.inputs[0].floats() + row * stride_, stride_, count, static_cast<int>(taps_),
                   row_, sums, differences);
      of_even.rows = of_odd.rows = count;
      of_even.out = call.output.floats() + row * of_even.out_stride;
      of_odd.out = of_even.out + even_.columns();
      kernels_.run(of_even);
      kernels_.run(of_odd);
    }
  }
  int64_t scratch_floats(int64_t) const override { return 2 * rows_ * row_; }
  std::string kernel() const override { return "mirrored taps folded, " + gemm_name(target_); }
  std::string reason() const override {
    return "even and odd filters: half the multiplications, of sums and differences of samples";
  }

 private:
  int64_t target_;
  const MirrorKernels& mirror_;
  const GemmKernels& kernels_;
  int64_t stride_, taps_, row_, rows_;
  PackedWeights even_, odd_;
};

}  // namespace

std::unique_ptr<Step> step_of(const model::SincConvolution& block, const NodeShapes& shapes) {
  const int64_t even = even_filters(block.filters);
  if (even >= 0) return std::make_unique<MirroredSincStep>(block, even, shapes);
  return std::make_unique<SincConvolutionStep>(block, shapes);
}

}  // namespace diarist::backend::cpu
