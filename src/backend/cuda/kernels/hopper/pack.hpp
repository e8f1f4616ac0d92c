#pragma once
// Weights in the orders in which Hopper's kernels read them, as the bits of halves. All are
// multiplied by `scale`, a power of two, first. \param weight [cout, cin, k, k] f32.

#include <cstdint>
#include <vector>

namespace diarist::backend::cuda::hopper {

using Halves = std::vector<std::uint16_t>;

/// conv_tile: [slab][tap][cout][channels of a slab], rows swizzled by their number; slabs of 64
/// channels, 32 when flat. In split mode three slabs per group of channels: high, low, high.
Halves pack_tile(const float* weight, int cout, int cin, bool split, float scale, bool flat);

/// conv_walk and block_walk: [high, low in split mode][tap in time][tap in frequency 2,1,0,2,1]
/// [cout][cin]: any rotation of the three taps is then one run of rows.
Halves pack_walk(const float* weight, int channels, bool split, float scale);

/// conv_down: [64 output channels][9 taps, then the 1x1 shortcut][64][cin].
Halves pack_down(const float* weight, const float* shortcut, int cout, int cin, float scale,
                 float shortcut_scale);

}  // namespace diarist::backend::cuda::hopper
