#include "timeline/confidence.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/run_control.hpp"

namespace diarist::timeline {
namespace {

// First window whose last frame lies at or behind a frame. Windows start in order of their number.
int first_window_over(const Grid& grid, int frame) {
  int low = 0, high = grid.chunks();
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (grid.first_frame(middle) + kFramesPerChunk > frame)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Moves that touch a segment, by time.
std::vector<Move> moves_into(std::span<const Move> moves, const Segment& segment) {
  std::vector<Move> into;
  for (const Move& move : moves)
    if (move.new_column == segment.column && move.from < segment.end_frame &&
        move.to > segment.first_frame)
      into.push_back(move);
  return into;
}

}  // namespace

void add_confidence(const Grid& grid, std::span<const std::uint8_t> activity,
                    std::span<const std::int32_t> hard, std::span<const Move> moves,
                    std::span<Segment> segments, const std::stop_token& stop) {
  const std::size_t windows = static_cast<std::size_t>(grid.chunks());
  if (activity.size() != windows * kFramesPerChunk || hard.size() != windows * kLocalSpeakers)
    base::fail(ErrorCode::kInvalidArgument,
               "{} values of activity and {} cluster numbers for {} windows", activity.size(),
               hard.size(), windows);
  std::vector<int> column_of, heard, covering;  // per frame of the segment
  for (Segment& segment : segments) {
    const int first = segment.first_frame;
    const int count = segment.end_frame - first;
    if (count < 1) continue;
    column_of.assign(static_cast<std::size_t>(count), segment.column);
    heard.assign(static_cast<std::size_t>(count), 0);
    covering.assign(static_cast<std::size_t>(count), 0);
    for (const Move& move : moves_into(moves, segment))
      for (int f = std::max(move.from, first); f < std::min(move.to, segment.end_frame); ++f)
        column_of[static_cast<std::size_t>(f - first)] = move.old_column;
    for (int c = first_window_over(grid, first); c < grid.chunks(); ++c) {
      base::check_stop(stop);
      const int start = grid.first_frame(c);
      if (start >= segment.end_frame) break;
      const std::int32_t* clusters = &hard[static_cast<std::size_t>(c) * kLocalSpeakers];
      const std::uint8_t* window = &activity[static_cast<std::size_t>(c) * kFramesPerChunk];
      const int end = std::min(segment.end_frame, start + kFramesPerChunk);
      for (int f = std::max(first, start); f < end; ++f) {
        const std::size_t i = static_cast<std::size_t>(f - first);
        unsigned bits = 0;
        for (int speaker = 0; speaker < kLocalSpeakers; ++speaker)
          if (clusters[speaker] == column_of[i]) bits |= 1U << speaker;
        heard[i] += (window[f - start] & bits) != 0 ? 1 : 0;
        ++covering[i];
      }
    }
    double sum = 0;
    for (std::size_t i = 0; i < heard.size(); ++i)
      if (covering[i] > 0) sum += static_cast<double>(heard[i]) / covering[i];
    segment.confidence = static_cast<float>(sum / count);
  }
}

}  // namespace diarist::timeline
