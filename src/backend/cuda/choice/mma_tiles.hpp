#pragma once
// The tiles in which the portable convolution (conv_mma) is compiled, as plain numbers: the choice
// function picks from this table, the kernels are instantiated from it.

#include <cstddef>
#include <iterator>
#include <span>
#include <string>

namespace diarist::backend::cuda {

/// One compiled tile. A CTA computes tile_f x tile_t pixels times cout channels; input channels go
/// by slabs of `slab`, weights by stages of `tap_step` taps. A pixel's sum runs over slabs, taps
/// and channels in order, so only `slab` has a say in its bits.
struct MmaTile {
  int slab, cout, taps, stride_f, stride_t, tile_f, tile_t, tap_step;

  /// Shared memory for a number of slabs (split mode has three per group of channels): two halo
  /// tiles and two stages of weights, or one where there is only one to load.
  constexpr std::size_t shared_bytes(int slabs) const {
    const int kernel = taps == 9 ? 3 : 1;
    const int step_f = taps == 9 ? stride_f : 1, step_t = taps == 9 ? stride_t : 1;
    const int halo = ((tile_f - 1) * step_f + kernel) * ((tile_t - 1) * step_t + kernel) * slab * 2;
    const int stage = tap_step * cout * slab * 2;
    const int steps = slabs * (taps / tap_step);
    return static_cast<std::size_t>((slabs < 2 ? slabs : 2) * halo +
                                    (steps < 2 ? steps : 2) * stage);
  }
};

/// Wide tiles first; among tiles of one slab the later ones make more CTAs.
inline constexpr MmaTile kMmaTiles[] = {
    {64, 128, 9, 1, 1, 2, 64, 1}, {64, 64, 9, 1, 1, 4, 64, 3},  {64, 64, 9, 1, 1, 2, 64, 1},
    {64, 64, 9, 1, 1, 1, 64, 1},  {32, 128, 9, 1, 1, 2, 64, 1}, {32, 64, 9, 1, 1, 2, 64, 3},
    {32, 32, 9, 1, 1, 4, 64, 9},  {32, 32, 9, 1, 1, 4, 64, 3},  {64, 128, 9, 2, 2, 2, 64, 1},
    {32, 128, 9, 2, 2, 2, 64, 1}, {32, 64, 9, 2, 2, 2, 64, 3},  {32, 64, 9, 2, 2, 2, 64, 1},
    {32, 64, 9, 2, 2, 1, 64, 1},  {64, 128, 1, 2, 2, 2, 64, 1}, {64, 64, 1, 2, 2, 1, 64, 1},
    {32, 64, 1, 2, 2, 2, 64, 1},
};
inline constexpr int kMmaTileCount = static_cast<int>(std::size(kMmaTiles));

/// "conv_mma_k64_n128_m2x64_t1": slab, output channels, pixels, taps a stage.
std::string mma_tile_name(int tile);

}  // namespace diarist::backend::cuda
