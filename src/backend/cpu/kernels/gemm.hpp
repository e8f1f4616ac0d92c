#pragma once
// The one matrix kernel of this backend: dense layers, convolutions in one and two dimensions, the
// products of an LSTM and the heads are all sums over "taps" of A[tap] * W[tap].

#include <cstdint>

#include "model/blocks.hpp"

namespace diarist::backend::cpu {

/// rows x columns outputs, each sum over taps and depth of a[tap][row*a_stride + k] * weight, plus
/// bias, plus `add`, through the activation, times `scale`.
///
/// Every output is one chain of multiply-adds in the order taps, depth: its bits depend neither on
/// the number of rows nor on the row's place among them.
struct Gemm {
  const float* weights = nullptr;  // packed_weights.hpp: [column block][tap][depth][block width]
  const float* bias = nullptr;     // [columns, rounded up to whole blocks]
  int columns = 0;
  int depth = 0;
  int all_taps = 1;                 // of the packed weights
  int taps = 1;                     // that take part now (rows outside a map do not)
  const float* const* a = nullptr;  // [taps], row 0
  const int* tap = nullptr;         // [taps], place in the packed weights; null: 0, 1, 2, ...
  std::int64_t rows = 0;
  std::int64_t a_stride = 0;  // floats between rows
  float* out = nullptr;
  std::int64_t out_stride = 0;
  const float* add = nullptr;  // may be `out` itself
  std::int64_t add_stride = 0;
  const float* scale = nullptr;  // [columns] or null
  model::Activation activation = model::Activation::kNone;
  /// Packed weights of the product that comes after this one, or null: fetched meanwhile.
  const float* next = nullptr;
  int first_block = 0;  // column blocks [first_block, last_block); last_block -1: all
  int last_block = -1;
};

struct GemmKernels {
  std::int64_t target;  // Highway's bit of the set that this table was compiled for
  void (*run)(const Gemm& gemm);
  int lanes;      // floats in a vector
  int block;      // columns of a full block: two vectors
  int tile_rows;  // rows of a full register tile
};

/// Kernels of one instruction set (Highway's bit).
const GemmKernels& gemm_kernels(std::int64_t target);

}  // namespace diarist::backend::cpu
