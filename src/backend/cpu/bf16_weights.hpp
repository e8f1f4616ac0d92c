#pragma once
// Weights in bf16, in the order in which the products of kernels/bf16.hpp read them.

#include <cstdint>
#include <functional>

#include "backend/cpu/kernels/bf16.hpp"
#include "backend/cpu/packed_weights.hpp"

namespace diarist::backend::cpu {

/// To the nearest bf16 number, ties to even.
Bf16 to_bf16(float value);

/// [block of 32 columns][tap][chunk of 32 k][half of the columns][16 pairs of k][16 columns][2].
/// Columns and k beyond the end are zero.
class Bf16Weights {
 public:
  /// weight(column, tap, k) and bias(column) are asked once per number.
  Bf16Weights(int columns, int taps, int depth,
              const std::function<float(int column, int tap, int k)>& weight,
              const std::function<float(int column)>& bias);

  /// A call with weights, bias and sizes filled in.
  Bf16Product product() const;
  int columns() const noexcept { return columns_; }

 private:
  int columns_;
  int taps_;
  int depth_;
  Aligned<Bf16> weights_;
  Aligned<float> bias_;
};

}  // namespace diarist::backend::cpu
