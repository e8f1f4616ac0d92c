#include "timeline/turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>

#include "timeline/grid.hpp"

namespace diarist::timeline {
namespace {

constexpr double kShortest = 1e-6;  // seconds; segments not longer than this are dropped

// A..Z, AA, AB, ...: bijective base 26.
std::string track_name(int number) {
  std::string name;
  for (++number; number > 0; number = (number - 1) / 26)
    name.insert(name.begin(), static_cast<char>('A' + (number - 1) % 26));
  return name;
}

struct TrackedSegment {
  Segment segment;
  std::string track;
};

bool text_before(int a, int b) { return std::to_string(a) < std::to_string(b); }

// Segments of one column, in time.
std::vector<Segment> runs_of(const FrameMatrix& matrix, int column) {
  std::vector<Segment> runs;
  int start = -1;
  const auto close = [&](int end) {
    const Segment run{Grid::middle(start), Grid::middle(end), column, start, end};
    if (run.end - run.start > kShortest) runs.push_back(run);
    start = -1;
  };
  for (int frame = 0; frame < matrix.frames; ++frame) {
    const bool set = matrix.at(frame, column) != 0;
    if (set && start < 0) start = frame;
    if (!set && start >= 0) close(frame);
  }
  if (start >= 0) close(matrix.frames - 1);
  return runs;
}

// Joins neighbours of one column whose gap is below the limit.
std::vector<Segment> without_gaps(const std::vector<Segment>& runs, double min_duration_off) {
  std::vector<Segment> joined;
  for (const Segment& run : runs) {
    const double gap = joined.empty() ? 0 : run.start - joined.back().end;
    if (!joined.empty() && (gap <= kShortest || gap < min_duration_off)) {
      joined.back().end = std::max(joined.back().end, run.end);
      joined.back().end_frame = std::max(joined.back().end_frame, run.end_frame);
    } else {
      joined.push_back(run);
    }
  }
  return joined;
}

std::string speaker_name(std::size_t number) { return fmt::format("SPEAKER_{:02d}", number); }

// Turns of segments whose columns already have a speaker number.
std::vector<Turn> turns_of(const std::vector<Segment>& segments,
                           const std::map<int, int>& speaker_of) {
  std::vector<Turn> turns;
  turns.reserve(segments.size());
  for (const Segment& segment : segments)
    turns.push_back(
        {segment.start, segment.end, speaker_of.at(segment.column), segment.confidence});
  return turns;
}

NamedTurns name_columns(const std::vector<Segment>& segments, const std::vector<Segment>& exclusive,
                        std::vector<int> columns) {
  std::map<int, int> speaker_of;
  NamedTurns named;
  for (const int column : columns) {
    named.names.push_back(speaker_name(named.names.size()));
    speaker_of.emplace(column, static_cast<int>(speaker_of.size()));
  }
  named.columns = std::move(columns);
  named.turns = turns_of(segments, speaker_of);
  named.exclusive_turns = turns_of(exclusive, speaker_of);
  return named;
}

// Columns of `segments` in order of appearance, then those that only `exclusive` has (none in
// practice: an exclusive turn lies inside a regular one).
std::vector<int> columns_by_appearance(const std::vector<Segment>& segments,
                                       const std::vector<Segment>& exclusive) {
  std::vector<int> columns;
  for (const auto* list : {&segments, &exclusive})
    for (const Segment& segment : *list)
      if (std::find(columns.begin(), columns.end(), segment.column) == columns.end())
        columns.push_back(segment.column);
  return columns;
}

// A number of seconds as the writers print it: three decimals, correctly rounded.
std::string printed(double seconds) { return fmt::format("{:.3f}", seconds); }
double read_back(double seconds) { return std::strtod(printed(seconds).c_str(), nullptr); }

// True when what is printed for the segment does not pass the duration: its end, and its start plus
// its length, which are rounded each on its own.
bool printed_inside(const Segment& segment, double duration) {
  return read_back(segment.end) <= duration &&
         read_back(segment.start) + read_back(segment.end - segment.start) <= duration;
}

std::vector<Segment> clamped(const std::vector<Segment>& segments, double duration) {
  std::vector<Segment> kept;
  kept.reserve(segments.size());
  for (Segment segment : segments) {
    if (segment.start >= duration) continue;
    segment.end = std::min(segment.end, duration);
    if (!printed_inside(segment, duration)) {
      // Whole milliseconds; roundings of start and length can add up to one more than the end
      // has, and reading them back may add the last bit: three steps are always enough.
      const double whole = std::floor(duration * 1000.0);
      for (int step = 0; step < 4 && !printed_inside(segment, duration); ++step)
        segment.end = std::min(segment.end, (whole - step) / 1000.0);
    }
    if (read_back(segment.end - segment.start) <= 0 || !printed_inside(segment, duration)) continue;
    kept.push_back(segment);
  }
  // Clamping makes ends equal that were not.
  std::stable_sort(kept.begin(), kept.end(), [](const Segment& a, const Segment& b) {
    return std::tie(a.start, a.end) < std::tie(b.start, b.end);
  });
  return kept;
}

void sort_turns(std::vector<Turn>& turns) {
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return std::tie(a.start, a.end, a.speaker) < std::tie(b.start, b.end, b.speaker);
  });
}

}  // namespace

std::vector<Segment> segments_of(const FrameMatrix& matrix, double min_duration_off) {
  std::vector<int> columns(static_cast<std::size_t>(matrix.columns));
  for (int column = 0; column < matrix.columns; ++column)
    columns[static_cast<std::size_t>(column)] = column;
  // With gap filling tracks are numbered along the segments, columns in text order.
  if (min_duration_off > 0) std::sort(columns.begin(), columns.end(), text_before);

  std::vector<TrackedSegment> tracked;
  for (const int column : columns) {
    std::vector<Segment> runs = runs_of(matrix, column);
    if (min_duration_off > 0) runs = without_gaps(runs, min_duration_off);
    const std::string track = track_name(column);
    for (const Segment& run : runs)
      tracked.push_back(
          {run, min_duration_off > 0 ? track_name(static_cast<int>(tracked.size())) : track});
  }
  std::sort(tracked.begin(), tracked.end(), [](const TrackedSegment& a, const TrackedSegment& b) {
    if (a.segment.start != b.segment.start) return a.segment.start < b.segment.start;
    if (a.segment.end != b.segment.end) return a.segment.end < b.segment.end;
    if (a.track != b.track) return a.track < b.track;
    return text_before(a.segment.column, b.segment.column);
  });
  std::vector<Segment> segments;
  segments.reserve(tracked.size());
  for (const TrackedSegment& item : tracked) segments.push_back(item.segment);
  return segments;
}

NamedTurns name_like_reference(const std::vector<Segment>& segments,
                               const std::vector<Segment>& exclusive) {
  std::vector<int> columns = columns_by_appearance(segments, {});
  std::sort(columns.begin(), columns.end(), text_before);
  for (const int column : columns_by_appearance(segments, exclusive))
    if (std::find(columns.begin(), columns.end(), column) == columns.end())
      columns.push_back(column);
  return name_columns(segments, exclusive, std::move(columns));
}

NamedTurns name_by_first_turn(const std::vector<Segment>& segments,
                              const std::vector<Segment>& exclusive, double duration) {
  const auto inside = [duration](const std::vector<Segment>& list) {
    return duration > 0 ? clamped(list, duration) : list;
  };
  const std::vector<Segment> regular = inside(segments);
  const std::vector<Segment> single = inside(exclusive);
  NamedTurns named = name_columns(regular, single, columns_by_appearance(regular, single));
  sort_turns(named.turns);
  sort_turns(named.exclusive_turns);
  return named;
}

}  // namespace diarist::timeline
