#include "pipeline/row_masks.hpp"

#include "timeline/activity.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {

std::vector<std::int32_t> speaker_rows(std::span<const std::uint8_t> window, int speaker,
                                       bool alone) {
  std::vector<std::int32_t> rows;
  if (!timeline::is_active(window, speaker)) return rows;
  float mask[timeline::kFramesPerChunk];
  timeline::embedding_mask(window, speaker, mask);
  const std::uint8_t only = static_cast<std::uint8_t>(1U << static_cast<unsigned>(speaker));
  for (int row = 0; row < kRowsPerWindow; ++row) {
    const int frame = row * timeline::kFramesPerChunk / kRowsPerWindow;
    if (mask[frame] == 0.0F) continue;
    if (alone && window[static_cast<std::size_t>(frame)] != only) continue;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace diarist::pipeline
