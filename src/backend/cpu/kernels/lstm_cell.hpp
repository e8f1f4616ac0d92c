#pragma once
// What happens in an LSTM step after its products.

#include <cstdint>

namespace diarist::backend::cpu {

struct LstmKernels {
  std::int64_t target;  // Highway's bit of the set that this table was compiled for
  /// windows x units cells. gates [windows, 4*units]: for each group of `lanes` units the input,
  /// forget, cell and output gate of the group, before their activations. state, hidden:
  /// [windows, units], updated. units is a multiple of `lanes`.
  void (*cells)(const float* gates, int windows, int units, float* state, float* hidden);
  /// y = 1 / (1 + exp(-x)) in place; absolute error below 2e-7.
  void (*sigmoid)(float* values, int count);
  /// y = tanh(x) in place; absolute error below 2e-7. For tests of the cell's arithmetic.
  void (*tanh)(float* values, int count);
  int lanes;
};

const LstmKernels& lstm_kernels(std::int64_t target);

}  // namespace diarist::backend::cpu
