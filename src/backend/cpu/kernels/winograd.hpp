#pragma once
// 3x3 convolutions of stride 1 with a quarter of the multiplications: Winograd's F(4x4, 3x3).

#include <cstdint>

namespace diarist::backend::cpu {

inline constexpr int kWinogradTile = 4;     // outputs of a tile along either axis
inline constexpr int kWinogradPoints = 36;  // products per tile, input and output channel

/// map [frequency][time + 2][in] -> out [frequency][time + 2][out], both with zero columns at the
/// ends (those of `out` are left alone): 3x3 convolution padded by 1, + bias, + `add`, then ReLU.
///
/// A tile of 4x4 outputs is computed by the same chain of operations wherever it lies, so its bits
/// don't depend on how many tiles are worked on together.
struct Winograd {
  const float* weights = nullptr;  // [36][out / block][in][block], transformed
  const float* bias = nullptr;     // [out]
  int in = 0;                      // both multiples of `lanes`
  int out_channels = 0;
  std::int64_t frequency = 0;
  std::int64_t time = 0;
  const float* map = nullptr;
  float* out = nullptr;
  const float* add = nullptr;  // laid out like `out`; may be `out` itself
  bool relu = false;
  float* scratch = nullptr;  // scratch_floats(in, out_channels), aligned
};

struct WinogradKernels {
  std::int64_t target;  // Highway's bit of the set that this table was compiled for
  void (*run)(const Winograd& call);
  std::int64_t (*scratch_floats)(int in, int out);
  int lanes;  // floats in a vector
  int block;  // output channels of a full block: two vectors
};

const WinogradKernels& winograd_kernels(std::int64_t target);

/// A kernel [3][3] of one pair of channels as its 36 factors, in double.
void winograd_factors(const float* kernel, double* factors);

}  // namespace diarist::backend::cpu
