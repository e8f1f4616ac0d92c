#pragma once
// From windows to the recording's frames: counts and reconstruction (pipeline.md 5, 10).

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "timeline/grid.hpp"

namespace diarist::timeline {

/// Speakers per output frame [N]: mean over the covering windows, rounded half to even.
/// \param activity [C, 589]. \throws Error kCancelled, as the other functions that take a token:
/// a day has 50 million of these numbers.
std::vector<std::uint8_t> count_speakers(const Grid& grid, std::span<const std::uint8_t> activity,
                                         const std::stop_token& stop = {});

/// Caps the counts at `most` >= 0: the largest requested number of speakers, or 1 for exclusive
/// turns.
void cap_counts(std::span<std::uint8_t> counts, int most);

/// Binary matrix [frames, columns] of who speaks, one byte each.
struct FrameMatrix {
  int frames = 0;
  int columns = 0;
  std::vector<std::uint8_t> cells;  // row-major
  std::uint8_t& at(int frame, int column) {
    return cells[static_cast<std::size_t>(frame) * static_cast<std::size_t>(columns) +
                 static_cast<std::size_t>(column)];
  }
  std::uint8_t at(int frame, int column) const {
    return cells[static_cast<std::size_t>(frame) * static_cast<std::size_t>(columns) +
                 static_cast<std::size_t>(column)];
  }
};

/// Pipeline.md 10. hard: [C, 3] cluster numbers, negative = none. counts: already capped.
/// When there are fewer clusters than the largest count, phantom columns are appended.
FrameMatrix reconstruct(const Grid& grid, std::span<const std::uint8_t> activity,
                        std::span<const std::int32_t> hard, std::span<const std::uint8_t> counts,
                        const std::stop_token& stop = {});

}  // namespace diarist::timeline
