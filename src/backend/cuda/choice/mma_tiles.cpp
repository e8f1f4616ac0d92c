#include "backend/cuda/choice/mma_tiles.hpp"

#include <fmt/format.h>

namespace diarist::backend::cuda {

std::string mma_tile_name(int tile) {
  const MmaTile& t = kMmaTiles[tile];
  return fmt::format("conv_mma_k{}_n{}_m{}x{}_t{}", t.slab, t.cout, t.tile_f, t.tile_t, t.tap_step);
}

}  // namespace diarist::backend::cuda
