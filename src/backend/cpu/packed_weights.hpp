#pragma once
// Weights in the order in which the matrix kernel reads them.

#include <hwy/aligned_allocator.h>

#include <cstdint>
#include <functional>

#include "backend/cpu/kernels/gemm.hpp"

namespace diarist::backend::cpu {

/// Memory aligned for every vector width. Not initialized.
template <typename T>
using Aligned = hwy::AlignedFreeUniquePtr<T[]>;

/// \throws Error kOutOfMemory.
Aligned<float> allocate_floats(std::int64_t count);
Aligned<double> allocate_doubles(std::int64_t count);
Aligned<std::uint16_t> allocate_bf16(std::int64_t count);

/// [column block][tap][depth][block width]; a block is two vectors wide, the last one may be one
/// vector wide. Columns beyond the end are zero.
class PackedWeights {
 public:
  /// weight(column, tap, k) and bias(column) are asked once per number.
  PackedWeights(const GemmKernels& kernels, int columns, int taps, int depth,
                const std::function<float(int column, int tap, int k)>& weight,
                const std::function<float(int column)>& bias);

  /// A call with weights, bias and sizes filled in.
  Gemm gemm() const;
  int blocks() const noexcept { return blocks_; }
  int columns() const noexcept { return columns_; }
  std::int64_t bytes() const noexcept { return floats_ * 4; }

 private:
  int columns_;
  int taps_;
  int depth_;
  int blocks_;
  std::int64_t floats_;
  Aligned<float> weights_;
  Aligned<float> bias_;
};

}  // namespace diarist::backend::cpu
