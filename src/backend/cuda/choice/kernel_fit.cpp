// Which shapes a kernel serves, and how it is cut for a batch.

#include <algorithm>
#include <cstdint>

#include "backend/cuda/choice/choice.hpp"
#include "backend/cuda/kernels/conv_mma_tiles.hpp"
#include "base/error.hpp"

namespace diarist::backend::cuda {
namespace {

// Every Hopper kernel is written for the shared memory that each sm_90 device has.
constexpr std::size_t kHopperShared = 227 * 1024;

bool same_strides(const LayerShape& s, int stride) {
  return s.stride_f == stride && s.stride_t == stride;
}

bool square(const LayerShape& s, int channels) { return s.cin == channels && s.cout == channels; }

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

bool tile_serves(const DeviceFacts& device, const ConvMmaTile& tile, const LayerShape& s,
                 Mode mode) {
  const bool split = mode == Mode::kExact;
  return s.stride_f == s.stride_t && tile.serves(s.taps, s.stride_f, s.cin, s.cout, split) &&
         tile.shared_bytes(s.cin / (split ? 16 : 32)) <= device.shared_bytes;
}

// Tiles that serve and fit: those with more output channels first, since they read the input less
// often, then in the order of the table.
std::vector<int> serving_tiles(const DeviceFacts& device, const LayerShape& shape, Mode mode) {
  std::vector<int> found;
  for (int i = 0; i < kConvMmaTileCount; ++i)
    if (tile_serves(device, kConvMmaTiles[i], shape, mode)) found.push_back(i);
  std::stable_sort(found.begin(), found.end(),
                   [](int a, int b) { return kConvMmaTiles[a].cout > kConvMmaTiles[b].cout; });
  return found;
}

std::int64_t works_of(const ConvMmaTile& tile, const LayerShape& s, int items) {
  return ceil_div(s.out_frequency(), tile.tile_rows()) * ceil_div(s.out_time(), tile.columns()) *
         (s.cout / tile.cout) * items;
}

// The first tile that gives every multiprocessor some work, or else the one that makes most works.
int choose_tile(const DeviceFacts& device, const LayerShape& shape, Mode mode, int items) {
  int best = -1;
  std::int64_t most = 0;
  for (const int tile : serving_tiles(device, shape, mode)) {
    const std::int64_t works = works_of(kConvMmaTiles[tile], shape, items);
    if (works > most) {
      best = tile;
      most = works;
    }
    if (most >= device.multiprocessors) break;
  }
  return best;
}

// conv_tile in halves: 1 (64 output channels per CTA) where 128 would leave multiprocessors idle.
constexpr int kTilePixels = 256, kTileColumns = 128;

int choose_narrow(const DeviceFacts& device, const LayerShape& shape, Mode mode, int items) {
  if (mode == Mode::kExact) return 0;  // always 64
  const std::int64_t pixels = std::int64_t{shape.out_frequency()} * shape.out_time();
  const std::int64_t works = ceil_div(pixels, kTilePixels) * (shape.cout / kTileColumns) * items;
  return works < device.multiprocessors ? 1 : 0;
}

// Empty: the shape is one of the kernel's.
std::string other_shape(KernelId kernel, const LayerShape& s, Mode mode) {
  const bool three = s.taps == 9;
  bool ok = false;
  switch (kernel) {
    case KernelId::kStemMma:
    case KernelId::kStemFfma:
      return s.cin == 1 && s.cout == 32 && three && same_strides(s, 1)
                 ? ""
                 : "serves only the first convolution (1 to 32 channels)";
    case KernelId::kBlockWalk:
      ok = mode == Mode::kFast && three && same_strides(s, 1) && square(s, 32);
      return ok ? "" : "serves only blocks of 32 channels in fast mode";
    case KernelId::kConvWalk:
      ok = three && same_strides(s, 1) && square(s, mode == Mode::kFast ? 64 : 32);
      return ok ? "" : "serves only 3x3 with stride 1 and 64 channels (fast) or 32 (exact)";
    case KernelId::kConvDown:
      ok = mode == Mode::kFast && (three || s.taps == 1) && same_strides(s, 2) &&
           (s.cin == 32 || s.cin == 64) && s.cout == 2 * s.cin;
      return ok ? "" : "serves only stride 2 from 32 or 64 channels in fast mode";
    case KernelId::kConvStride:
      ok = three && same_strides(s, 2) && !s.residual && s.cout == 2 * s.cin &&
           (s.cin == 128 || (mode == Mode::kExact && (s.cin == 32 || s.cin == 64)));
      return ok ? "" : "serves only 3x3 with stride 2 from 128 channels (32 and 64 when exact)";
    case KernelId::kConvTile:
      ok = three && same_strides(s, 1) &&
           (square(s, 128) || square(s, 256) || (mode == Mode::kExact && square(s, 64)));
      return ok ? "" : "serves only 3x3 with stride 1 and 128 or 256 channels (64 when exact)";
    case KernelId::kConvMma:
      ok = s.stride_f == s.stride_t &&
           std::any_of(std::begin(kConvMmaTiles), std::end(kConvMmaTiles),
                       [&](const ConvMmaTile& t) {
                         return t.serves(s.taps, s.stride_f, s.cin, s.cout, mode == Mode::kExact);
                       });
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
                      kernel == KernelId::kConvDown || kernel == KernelId::kConvStride ||
                      kernel == KernelId::kConvTile;
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
    if (serving_tiles(device, shape, mode).empty())
      return fmt::format("has no tile that fits into {} bytes of shared memory",
                         device.shared_bytes);
  }
  return "";
}

int choose_variant(const DeviceFacts& device, KernelId kernel, const LayerShape& shape, Mode mode,
                   int items) {
  if (kernel == KernelId::kConvMma) return choose_tile(device, shape, mode, items);
  if (kernel == KernelId::kConvTile || kernel == KernelId::kConvStride)
    return choose_narrow(device, shape, mode, items);
  return 0;
}

std::vector<int> variants(const DeviceFacts& device, KernelId kernel, const LayerShape& shape,
                          Mode mode) {
  if ((kernel == KernelId::kConvTile || kernel == KernelId::kConvStride) && mode == Mode::kFast)
    return {0, 1};
  if (kernel != KernelId::kConvMma) return {0};
  return serving_tiles(device, shape, mode);
}

std::string variant_name(KernelId kernel, int variant) {
  if (kernel == KernelId::kConvMma && variant >= 0 && variant < kConvMmaTileCount)
    return fmt::format("conv_mma {}", kConvMmaTiles[variant].name);
  if (kernel == KernelId::kConvTile && variant == 1) return "conv_tile narrow";
  if (kernel == KernelId::kConvStride && variant == 1) return "conv_stride narrow";
  return kernel_name(kernel);
}

}  // namespace diarist::backend::cuda
