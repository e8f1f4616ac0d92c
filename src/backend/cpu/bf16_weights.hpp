#pragma once
// Weights in bf16, in the order in which the products of kernels/bf16.hpp read them.

#include <cstdint>
#include <functional>

#include "backend/cpu/kernels/bf16.hpp"
#include "backend/cpu/packed_weights.hpp"

namespace diarist::backend::cpu {

inline constexpr int kBf16Parts = 3;  // products of split numbers

/// To the nearest bf16 number, ties to even.
Bf16 to_bf16(float value);

/// [block of 32 columns][tap][chunk of 32 k][half of the columns][16 pairs of k][16 columns][2].
/// Columns and k beyond the end are zero.
class Bf16Weights {
 public:
  /// `split`: weights w are high + low, and every tap is three: rows high with w high, rows low
  /// with w high, rows high with w low. What is left out is below 2^-16 of a product.
  Bf16Weights(int columns, int taps, int depth, bool split,
              const std::function<float(int column, int tap, int k)>& weight,
              const std::function<float(int column)>& bias);

  /// A call with weights, bias and sizes filled in.
  Bf16Product product() const;
  /// Taps before splitting.
  int taps() const noexcept { return split_ ? taps_ / kBf16Parts : taps_; }
  bool split() const noexcept { return split_; }
  int columns() const noexcept { return columns_; }

 private:
  int columns_;
  bool split_;
  int taps_;
  int depth_;
  Aligned<Bf16> weights_;
  Aligned<float> bias_;
};

}  // namespace diarist::backend::cpu
