#pragma once
// Products of bf16 numbers with FP32 sums, for `--precision fast`. Two instructions compute them on
// x86; both read the same packed weights and the same rows.

#include <cstdint>
#include <string>
#include <vector>

#include "backend/cpu/kernels/rows.hpp"
#include "model/blocks.hpp"

namespace diarist::backend::cpu {

/// A bf16 number: the upper half of a float.
using Bf16 = std::uint16_t;

inline constexpr int kBf16Block = 32;  // rows and columns of a block of outputs
inline constexpr int kBf16Chunk = 32;  // numbers of a row that are taken at once

/// Numbers of a row of `columns`, filled up with zeros to whole chunks.
inline constexpr std::int64_t bf16_columns(std::int64_t columns) {
  return (columns + kBf16Chunk - 1) / kBf16Chunk * kBf16Chunk;
}

/// As Gemm (gemm.hpp), but for rows of bf16: rows x columns outputs, each sum over taps and depth
/// of a[tap][row*a_stride + k] * weight, plus bias, plus `add`, through the activation, times
/// `scale`.
///
/// Every output is one chain of operations in the order taps, depth, wherever its row lies.
struct Bf16Product {
  const Bf16* weights = nullptr;  // bf16_weights.hpp
  const float* bias = nullptr;    // [columns, rounded up to whole blocks]
  int columns = 0;
  int depth = 0;  // whole chunks
  int all_taps = 1;
  int taps = 1;
  /// [taps], row 0. Each must be readable for at least kBf16Block rows.
  const Bf16* const* a = nullptr;
  const int* tap = nullptr;  // [taps], place in the packed weights; null: 0, 1, 2, ...
  std::int64_t rows = 0;
  std::int64_t a_stride = 0;  // numbers between rows
  float* out = nullptr;
  std::int64_t out_stride = 0;
  const float* add = nullptr;  // may be `out` itself
  std::int64_t add_stride = 0;
  const float* scale = nullptr;  // [columns] or null
  model::Activation activation = model::Activation::kNone;
};

struct Bf16Kernels {
  const char* name;  // of the instruction: "AMX_BF16", "AVX512_BF16"
  void (*run)(const Bf16Product& product);
  /// Three products of split numbers cost less than one of FP32.
  bool split_pays;
  /// Rounds rows to nearest; out rows are out_stride long, filled up with zeros. `low`: null, or
  /// takes what rounding left, rounded.
  void (*convert)(const RowsIn& rows, Bf16* out, std::int64_t out_stride, Bf16* low);
  /// The same of max(0, x*scale + offset), scale and offset per column.
  void (*scaled_relu)(const RowsIn& rows, const float* scale, const float* offset, Bf16* out,
                      std::int64_t out_stride, Bf16* low);
};

/// Instructions for bf16 products that this machine has and this process may use, best first. Empty
/// where there are none.
const std::vector<const Bf16Kernels*>& bf16_kernels_supported();
/// Names of those in this build, best first.
std::vector<std::string> bf16_kernels_compiled();

}  // namespace diarist::backend::cpu
