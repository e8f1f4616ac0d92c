// Which shapes a kernel serves, and how it is cut for a batch.

#include <algorithm>
#include <cstdint>

#include "backend/cuda/choice/choice.hpp"
#include "backend/cuda/choice/mma_tiles.hpp"
#include "base/error.hpp"

namespace diarist::backend::cuda {
namespace {

// Every Hopper kernel is written for the shared memory that each sm_90 device has.
constexpr std::size_t kHopperShared = 227 * 1024;

bool same_strides(const LayerShape& s, int stride) {
  return s.stride_f == stride && s.stride_t == stride;
}

bool square(const LayerShape& s, int channels) { return s.cin == channels && s.cout == channels; }

// Slabs of a convolution: split mode loads high x high, high x low and low x high.
int slabs_of(const LayerShape& shape, Mode mode, int slab) {
  return shape.cin / slab * (mode == Mode::kExact ? 3 : 1);
}

bool tile_serves(const MmaTile& t, const LayerShape& s) {
  return s.cin % t.slab == 0 && s.cout % t.cout == 0 && s.taps == t.taps &&
         s.stride_f == t.stride_f && s.stride_t == t.stride_t;
}

bool tile_fits(const DeviceFacts& device, const MmaTile& t, const LayerShape& s, Mode mode) {
  return t.shared_bytes(slabs_of(s, mode, t.slab)) <= device.shared_bytes;
}

// The first tile that serves and fits; -1: none. It settles the slab for every batch class.
int widest_tile(const DeviceFacts& device, const LayerShape& shape, Mode mode) {
  for (int i = 0; i < kMmaTileCount; ++i) {
    if (tile_serves(kMmaTiles[i], shape) && tile_fits(device, kMmaTiles[i], shape, mode)) return i;
  }
  return -1;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t ctas_of(const MmaTile& t, const LayerShape& s, int items) {
  return ceil_div(s.out_frequency(), t.tile_f) * ceil_div(s.out_time(), t.tile_t) *
         (s.cout / t.cout) * items;
}

// The widest tile that gives every multiprocessor a CTA, or else the one with most CTAs.
int choose_tile(const DeviceFacts& device, const LayerShape& shape, Mode mode, int items) {
  const int first = widest_tile(device, shape, mode);
  int best = first;
  for (int i = first; i < kMmaTileCount; ++i) {
    const MmaTile& tile = kMmaTiles[i];
    if (tile.slab != kMmaTiles[first].slab || !tile_serves(tile, shape) ||
        !tile_fits(device, tile, shape, mode))
      continue;
    if (ctas_of(tile, shape, items) > ctas_of(kMmaTiles[best], shape, items)) best = i;
    if (ctas_of(kMmaTiles[best], shape, items) >= device.multiprocessors) break;
  }
  return best;
}

// How a kernel that walks down the rows divides its work.
struct Walk {
  int strip;    // output pixels along time that one worker owns
  int workers;  // per multiprocessor
  int extra;    // steps that every part takes beyond its rows
};

Walk walk_of(KernelId kernel, const LayerShape& shape) {
  if (kernel == KernelId::kBlockWalk) return {126, 2, 4};
  if (kernel == KernelId::kConvDown) return {64, 2, 1};
  return {64, shape.cin == 32 ? 4 : 2, 2};
}

// Parts of the rows that make the longest worker shortest; the fewest on a tie.
int choose_parts(const DeviceFacts& device, KernelId kernel, const LayerShape& shape, int items) {
  const Walk walk = walk_of(kernel, shape);
  const int rows = shape.out_frequency();
  const std::int64_t strips = ceil_div(shape.out_time(), walk.strip) * items;
  const std::int64_t workers = std::int64_t{walk.workers} * device.multiprocessors;
  int best = 1;
  std::int64_t best_steps = 0;
  for (int parts = 1; parts <= rows / 4; ++parts) {
    const std::int64_t steps =
        ceil_div(strips * parts, workers) * (ceil_div(rows, parts) + walk.extra);
    if (parts == 1 || steps < best_steps) {
      best = parts;
      best_steps = steps;
    }
  }
  return best;
}

// conv_tile: pixels of a CTA, and the columns it may have.
constexpr int kTilePixels = 128;
constexpr int kTileColumns[] = {128, 64};

int choose_columns(const DeviceFacts& device, const LayerShape& shape, int items) {
  const std::int64_t pixels = std::int64_t{shape.out_frequency()} * shape.out_time() * items;
  for (const int columns : kTileColumns) {
    if (shape.cout % columns != 0) continue;
    if (ceil_div(pixels, kTilePixels) * (shape.cout / columns) >= device.multiprocessors)
      return columns;
  }
  return 64;
}

// Empty: the shape is one of the kernel's.
std::string other_shape(KernelId kernel, const LayerShape& s, Mode mode) {
  const bool three = s.taps == 9;
  bool ok = false;
  switch (kernel) {
    case KernelId::kStemFfma:
      return s.cin == 1 && s.cout == 32 && three && same_strides(s, 1)
                 ? ""
                 : "serves only the first convolution (1 to 32 channels)";
    case KernelId::kBlockWalk:
      ok = mode == Mode::kFast && three && same_strides(s, 1) &&
           (square(s, 32) || (s.cin == 1 && s.cout == 32));
      return ok ? "" : "serves only blocks of 32 channels in fast mode";
    case KernelId::kConvWalk:
      ok = three && same_strides(s, 1) && square(s, mode == Mode::kFast ? 64 : 32);
      return ok ? "" : "serves only 3x3 with stride 1 and 64 channels (fast) or 32 (exact)";
    case KernelId::kConvDown:
      ok = mode == Mode::kFast && (three || s.taps == 1) && same_strides(s, 2) &&
           (s.cin == 32 || s.cin == 64) && s.cout == 2 * s.cin;
      return ok ? "" : "serves only stride 2 from 32 or 64 channels in fast mode";
    case KernelId::kConvTile:
      ok = three && same_strides(s, 1) &&
           (square(s, 128) || square(s, 256) || (mode == Mode::kExact && square(s, 64)));
      return ok ? "" : "serves only 3x3 with stride 1 and 128 or 256 channels (64 when exact)";
    case KernelId::kConvMma:
      ok = std::any_of(std::begin(kMmaTiles), std::end(kMmaTiles),
                       [&](const MmaTile& t) { return tile_serves(t, s); });
      return ok ? "" : "has no tile for this shape";
    case KernelId::kConvFfma:
      ok = (three || s.taps == 1) && s.stride_f >= 1 && s.stride_f <= 2 && s.stride_t >= 1 &&
           s.stride_t <= 2 && s.cin % 4 == 0 && s.cout % 4 == 0;
      return ok ? "" : "serves 1x1 and 3x3, strides 1 and 2, channels in multiples of 4";
    case KernelId::kLibrary:
      return "";
  }
  return "is not known";
}

}  // namespace

std::string why_not(const DeviceFacts& device, KernelId kernel, const LayerShape& shape,
                    Mode mode) {
  const bool hopper = kernel == KernelId::kBlockWalk || kernel == KernelId::kConvWalk ||
                      kernel == KernelId::kConvDown || kernel == KernelId::kConvTile;
  if (hopper && device.architecture != 90)
    return fmt::format("is written for sm_90, the device is sm_{}", device.architecture);
  if (mode == Mode::kTf32 && kernel != KernelId::kLibrary && kernel != KernelId::kStemFfma)
    return "has no TF32 products";
  std::string shape_problem = other_shape(kernel, shape, mode);
  if (!shape_problem.empty()) return shape_problem;
  if (hopper && device.shared_bytes < kHopperShared)
    return fmt::format("needs {} bytes of shared memory, the device gives {}", kHopperShared,
                       device.shared_bytes);
  if (kernel == KernelId::kConvMma) {
    if (widest_tile(device, shape, mode) < 0)
      return fmt::format("has no tile that fits into {} bytes of shared memory",
                         device.shared_bytes);
  }
  return "";
}

int choose_variant(const DeviceFacts& device, KernelId kernel, const LayerShape& shape, Mode mode,
                   int items) {
  switch (kernel) {
    case KernelId::kConvMma:
      return choose_tile(device, shape, mode, items);
    case KernelId::kBlockWalk:
    case KernelId::kConvWalk:
    case KernelId::kConvDown:
      return choose_parts(device, kernel, shape, items);
    case KernelId::kConvTile:
      return choose_columns(device, shape, items);
    default:
      return 0;
  }
}

bool variant_serves(const DeviceFacts& device, KernelId kernel, const LayerShape& shape, Mode mode,
                    int variant) {
  switch (kernel) {
    case KernelId::kConvMma: {
      if (variant < 0 || variant >= kMmaTileCount) return false;
      const int first = widest_tile(device, shape, mode);
      const MmaTile& tile = kMmaTiles[variant];
      return first >= 0 && tile.slab == kMmaTiles[first].slab && tile_serves(tile, shape) &&
             tile_fits(device, tile, shape, mode);
    }
    case KernelId::kBlockWalk:
    case KernelId::kConvWalk:
    case KernelId::kConvDown:
      return variant >= 1 && variant <= std::max(1, shape.out_frequency() / 4);
    case KernelId::kConvTile:
      return std::find(std::begin(kTileColumns), std::end(kTileColumns), variant) !=
                 std::end(kTileColumns) &&
             shape.cout % variant == 0;
    default:
      return variant == 0;
  }
}

}  // namespace diarist::backend::cuda
