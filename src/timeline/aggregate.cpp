#include "timeline/aggregate.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "timeline/rank.hpp"

namespace diarist::timeline {
namespace {

constexpr std::array<int, 8> kVoices = {0, 1, 1, 2, 1, 2, 2, 3};  // set bits

void check_activity(const Grid& grid, std::span<const std::uint8_t> activity) {
  const std::size_t expected = static_cast<std::size_t>(grid.chunks()) * kFramesPerChunk;
  if (activity.size() != expected)
    base::fail(ErrorCode::kInvalidArgument, "activity has {} values; {} windows need {}",
               activity.size(), grid.chunks(), expected);
}

// Activation of every cluster in every output frame [frames, columns]: in how many of the covering
// windows one of its local speakers is set.
std::vector<std::uint16_t> activations(const Grid& grid, std::span<const std::uint8_t> activity,
                                       std::span<const std::int32_t> hard, int columns,
                                       const std::stop_token& stop) {
  const std::size_t width = static_cast<std::size_t>(columns);
  std::vector<std::uint16_t> sums(static_cast<std::size_t>(grid.frames()) * width);
  for (int chunk = 0; chunk < grid.chunks(); ++chunk) {
    base::check_stop(stop);
    const auto window = activity.subspan(static_cast<std::size_t>(chunk) * kFramesPerChunk,
                                         static_cast<std::size_t>(kFramesPerChunk));
    const std::int32_t* clusters = &hard[static_cast<std::size_t>(chunk) * kLocalSpeakers];
    const std::size_t first = static_cast<std::size_t>(grid.first_frame(chunk));
    for (int speaker = 0; speaker < kLocalSpeakers; ++speaker) {
      const std::int32_t cluster = clusters[speaker];
      if (cluster < 0 || std::find(clusters, clusters + speaker, cluster) != clusters + speaker)
        continue;
      unsigned bits = 0;  // of all local speakers that share the cluster
      for (int other = speaker; other < kLocalSpeakers; ++other)
        if (clusters[other] == cluster) bits |= 1u << other;
      std::uint16_t* out = &sums[first * width + static_cast<std::size_t>(cluster)];
      for (std::size_t frame = 0; frame < window.size(); ++frame)
        out[frame * width] =
            static_cast<std::uint16_t>(out[frame * width] + ((window[frame] & bits) != 0 ? 1 : 0));
    }
  }
  return sums;
}

}  // namespace

std::vector<std::uint8_t> count_speakers(const Grid& grid, std::span<const std::uint8_t> activity,
                                         const std::stop_token& stop) {
  check_activity(grid, activity);
  const std::size_t frames = static_cast<std::size_t>(grid.frames());
  std::vector<int> sum(frames), cover(frames);
  for (int chunk = 0; chunk < grid.chunks(); ++chunk) {
    base::check_stop(stop);
    const std::size_t first = static_cast<std::size_t>(grid.first_frame(chunk));
    const std::uint8_t* window = &activity[static_cast<std::size_t>(chunk) * kFramesPerChunk];
    for (std::size_t frame = 0; frame < kFramesPerChunk; ++frame) {
      sum[first + frame] += kVoices[window[frame] & 7U];
      ++cover[first + frame];
    }
  }
  std::vector<std::uint8_t> counts(frames);
  for (std::size_t i = 0; i < frames; ++i) {
    if (cover[i] == 0) continue;  // the last frames of a recording never receive data
    // The mean rounded half to even, in integers.
    const int whole = sum[i] / cover[i];
    const int twice_rest = 2 * (sum[i] % cover[i]);
    const bool up = twice_rest > cover[i] || (twice_rest == cover[i] && whole % 2 == 1);
    counts[i] = static_cast<std::uint8_t>(whole + (up ? 1 : 0));
  }
  return counts;
}

void cap_counts(std::span<std::uint8_t> counts, int most) {
  if (most < 0) base::fail(ErrorCode::kInvalidArgument, "at most {} speakers at once", most);
  for (std::uint8_t& count : counts) count = static_cast<std::uint8_t>(std::min<int>(count, most));
}

FrameMatrix reconstruct(const Grid& grid, std::span<const std::uint8_t> activity,
                        std::span<const std::int32_t> hard, std::span<const std::uint8_t> counts,
                        const std::stop_token& stop) {
  check_activity(grid, activity);
  if (hard.size() != static_cast<std::size_t>(grid.chunks()) * kLocalSpeakers)
    base::fail(ErrorCode::kInvalidArgument, "{} cluster numbers for {} windows of 3 speakers",
               hard.size(), grid.chunks());
  if (counts.size() != static_cast<std::size_t>(grid.frames()))
    base::fail(ErrorCode::kInvalidArgument, "{} speaker counts for {} frames", counts.size(),
               grid.frames());
  FrameMatrix matrix;
  matrix.frames = grid.frames();
  for (const std::int32_t cluster : hard) matrix.columns = std::max(matrix.columns, cluster + 1);
  // Frames may hold more voices than there are clusters: the columns of such phantom speakers
  // stand behind the others.
  for (const std::uint8_t count : counts) matrix.columns = std::max<int>(matrix.columns, count);
  const std::size_t width = static_cast<std::size_t>(matrix.columns);
  matrix.cells.assign(static_cast<std::size_t>(matrix.frames) * width, 0);

  const std::vector<std::uint16_t> sums = activations(grid, activity, hard, matrix.columns, stop);
  std::vector<std::int32_t> order(width);
  for (std::size_t frame = 0; frame < counts.size(); ++frame) {
    if (frame % kFramesPerChunk == 0) base::check_stop(stop);
    if (counts[frame] == 0) continue;
    const std::span<const std::uint16_t> activation(&sums[frame * width], width);
    std::uint8_t* const cells = &matrix.cells[frame * width];
    if (counts[frame] == 1 && width <= kOrderedColumns) {  // most frames
      cells[std::max_element(activation.begin(), activation.end()) - activation.begin()] = 1;
      continue;
    }
    rank_columns(activation, order);
    for (std::size_t i = 0; i < counts[frame]; ++i) cells[order[i]] = 1;
  }
  return matrix;
}

}  // namespace diarist::timeline
