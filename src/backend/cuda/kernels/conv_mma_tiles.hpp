#pragma once
// The tiles in which the portable convolution (conv_mma) is compiled, as plain numbers, and the
// choice among them. No CUDA header.

#include <cstddef>
#include <iterator>

namespace diarist::backend::cuda {

/// One compiled tile. A CTA computes rows() x columns() output pixels times cout channels of one
/// item; a warp computes `rows` x 16 pixels times warp_cout channels. Input channels go by slabs of
/// 32 halves (exact mode: 16 high parts and their 16 low parts). A pixel's sum runs over slabs,
/// time taps, groups of 16 channels and frequency taps in this order whatever the tile, so its bits
/// do not depend on the choice.
struct ConvMmaTile {
  const char* name;
  int taps, stride;      // 9: 3x3 padded by 1; 1: 1x1
  int cout;              // output channels of a CTA
  int rows;              // frequency rows of a warp
  int warps_f, warps_t;  // warps along frequency and time
  int warp_cout;         // output channels of a warp: 32 or 64
  int stages;            // weight stages in flight
  bool resident;         // all weights of the layer stay in shared memory
  int min_blocks;        // CTAs per multiprocessor that registers allow
  int min_cin, max_cin;  // input channels for which the tile is meant
  bool halves, split;    // precisions for which it is compiled

  static constexpr int kPixelBytes = 64;  // of one slab

  constexpr int columns() const { return warps_t * 16; }
  constexpr int tile_rows() const { return warps_f * rows; }
  constexpr int warps_n() const { return cout / warp_cout; }
  constexpr int threads() const { return 32 * warps_f * warps_t * warps_n(); }
  constexpr int kernel() const { return taps == 9 ? 3 : 1; }
  // A 1x1 kernel loads only the pixels it uses, so its halo tile has no stride.
  constexpr int step() const { return taps == 9 ? stride : 1; }
  constexpr int halo_rows() const { return (tile_rows() - 1) * step() + kernel(); }
  constexpr int halo_columns() const { return (columns() - 1) * step() + kernel(); }
  /// Pixels from one row of the halo tile to the next; even, so that the swizzle of a pixel depends
  /// on its column only.
  constexpr int pitch() const { return (halo_columns() + 1) / 2 * 2; }
  constexpr int tile_bytes() const { return halo_rows() * pitch() * kPixelBytes; }
  constexpr int stage_bytes() const { return kernel() * cout * kPixelBytes; }
  /// Weight stages of one slab: one per time tap.
  constexpr int slab_stages() const { return kernel(); }
  constexpr int tile_buffers() const { return resident || taps == 9 ? 2 : stages; }
  /// \param slabs of the layer: input channels over 32 (exact: over 16).
  constexpr std::size_t shared_bytes(int slabs) const {
    return static_cast<std::size_t>(tile_buffers() * tile_bytes() +
                                    (resident ? slabs * slab_stages() : stages) * stage_bytes());
  }
  constexpr bool serves(int layer_taps, int layer_stride, int cin, int layer_cout,
                        bool is_split) const {
    return layer_taps == taps && layer_stride == stride && cin >= min_cin && cin <= max_cin &&
           cin % 32 == 0 && layer_cout % cout == 0 && (!resident || layer_cout == cout) &&
           (is_split ? split : halves);
  }
};

inline constexpr int kAnyCin = 1 << 16;

/// Best first for each shape; tiles for devices with less shared memory come behind.
inline constexpr ConvMmaTile kConvMmaTiles[] = {
    // name, taps, stride, cout, rows, warps_f, warps_t, warp_cout, stages, resident, min_blocks,
    // cin
    {"s1_n32_8x64_resident", 9, 1, 32, 4, 2, 4, 32, 1, true, 2, 32, 32, true, false},
    {"s1_n32_8x64", 9, 1, 32, 4, 2, 4, 32, 3, false, 2, 32, kAnyCin, true, true},
    {"s1_n32_4x64_resident", 9, 1, 32, 2, 2, 4, 32, 1, true, 2, 32, 32, true, true},
    {"s1_n32_4x32_resident", 9, 1, 32, 2, 2, 2, 32, 1, true, 2, 32, 32, true, true},
    {"s1_n64_8x64_resident", 9, 1, 64, 4, 2, 4, 32, 1, true, 1, 64, 64, true, false},
    {"s1_n64_5x64", 9, 1, 64, 5, 1, 4, 32, 3, false, 2, 32, kAnyCin, true, true},
    {"s1_n64_10x64", 9, 1, 64, 5, 2, 4, 32, 3, false, 1, 32, kAnyCin, true, true},
    {"s1_n128_5x64_wide", 9, 1, 128, 5, 1, 4, 64, 3, false, 1, 256, kAnyCin, true, true},
    {"s1_n128_4x64", 9, 1, 128, 4, 1, 4, 32, 3, false, 1, 32, kAnyCin, true, true},
    {"s1_n64_4x64", 9, 1, 64, 4, 1, 4, 32, 3, false, 2, 32, kAnyCin, true, true},
    {"s1_n128_4x64_two", 9, 1, 128, 4, 1, 4, 32, 2, false, 1, 32, kAnyCin, true, true},
    {"s1_n64_4x64_two", 9, 1, 64, 4, 1, 4, 32, 2, false, 2, 32, kAnyCin, true, true},
    {"s1_n64_4x32", 9, 1, 64, 4, 1, 2, 32, 2, false, 4, 32, kAnyCin, true, true},
    {"s2_n128_5x32", 9, 2, 128, 5, 1, 2, 32, 3, false, 1, 64, kAnyCin, true, true},
    {"s2_n128_4x64", 9, 2, 128, 4, 1, 4, 32, 2, false, 1, 64, kAnyCin, true, true},
    {"s2_n64_4x32", 9, 2, 64, 4, 1, 2, 32, 3, false, 2, 32, kAnyCin, true, true},
    {"s2_n64_4x32_short", 9, 2, 64, 2, 2, 2, 32, 2, false, 2, 32, kAnyCin, true, true},
    {"s2_n64_4x16", 9, 2, 64, 2, 2, 1, 32, 2, false, 2, 32, kAnyCin, true, true},
    {"down_n128_4x64", 1, 2, 128, 4, 1, 4, 32, 3, false, 1, 64, kAnyCin, true, true},
    {"down_n64_4x64", 1, 2, 64, 4, 1, 4, 32, 3, false, 2, 32, kAnyCin, true, true},
};
inline constexpr int kConvMmaTileCount = static_cast<int>(std::size(kConvMmaTiles));

}  // namespace diarist::backend::cuda
