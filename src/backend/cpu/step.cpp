#include "backend/cpu/step.hpp"

#include <algorithm>
#include <type_traits>

#include "backend/cpu/kernels/gemm.hpp"
#include "backend/cpu/steps/steps.hpp"
#include "base/error.hpp"

namespace diarist::backend::cpu {

std::unique_ptr<Step> make_step(const model::Block& block, const NodeShapes& shapes) {
  return std::visit(
      [&](const auto& each) -> std::unique_ptr<Step> {
        if constexpr (std::is_same_v<std::decay_t<decltype(each)>, model::BiLstm>) {
          base::fail(ErrorCode::kInternal, "BiLstm is run in tiles, not item by item");
        } else {
          return step_of(each, shapes);
        }
      },
      block);
}

std::unique_ptr<TileStep> make_tile_step(const model::Block& block, const NodeShapes& shapes) {
  const auto* lstm = std::get_if<model::BiLstm>(&block);
  return lstm != nullptr ? tile_step_of(*lstm, shapes) : nullptr;
}

std::string gemm_name(std::int64_t target) {
  const GemmKernels& kernels = gemm_kernels(target);
  return fmt::format("gemm {}x{}", kernels.tile_rows, kernels.block);
}

std::int64_t packed_stride(std::int64_t columns) {
  const std::int64_t stride = (columns + 15) / 16 * 16;
  return stride % 256 == 0 ? stride + 16 : stride;
}

void clear_map_edges(float* map, std::int64_t channels, std::int64_t frequency, std::int64_t time) {
  for (std::int64_t f = 0; f < frequency; ++f) {
    float* row = map + f * (time + 2) * channels;
    std::fill_n(row, channels, 0.0F);
    std::fill_n(row + (time + 1) * channels, channels, 0.0F);
  }
}

void import_map(const float* logical, std::int64_t channels, std::int64_t frequency,
                std::int64_t time, float* map) {
  clear_map_edges(map, channels, frequency, time);
  for (std::int64_t f = 0; f < frequency; ++f) {
    float* row = map + (f * (time + 2) + 1) * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      const float* from = logical + (c * frequency + f) * time;
      for (std::int64_t t = 0; t < time; ++t) row[t * channels + c] = from[t];
    }
  }
}

void export_map(const float* map, std::int64_t channels, std::int64_t frequency, std::int64_t time,
                float* logical) {
  for (std::int64_t f = 0; f < frequency; ++f) {
    const float* row = map + (f * (time + 2) + 1) * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      float* to = logical + (c * frequency + f) * time;
      for (std::int64_t t = 0; t < time; ++t) to[t] = row[t * channels + c];
    }
  }
}

}  // namespace diarist::backend::cpu
