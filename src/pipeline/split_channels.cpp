#include "pipeline/split_channels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "diarist/waveform.hpp"

namespace diarist::pipeline {
namespace {

struct Span {
  double start = 0;
  double end = 0;
};

constexpr std::array<const char*, 2> kSideNames = {"left", "right"};
constexpr std::array<const char*, 2> kLabels = {"LEFT", "RIGHT"};

// Sorted stretches in which at least one of the turns runs.
std::vector<Span> union_of(const std::vector<Turn>& turns) {
  std::vector<Span> spans;
  for (const Turn& turn : turns) spans.push_back({turn.start, turn.end});
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start < b.start; });
  std::vector<Span> merged;
  for (const Span& span : spans) {
    if (!merged.empty() && span.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, span.end);
    } else {
      merged.push_back(span);
    }
  }
  return merged;
}

// The turn without the stretches, which are sorted.
std::vector<Turn> without(const Turn& turn, const std::vector<Span>& stretches) {
  std::vector<Turn> rest;
  const auto keep = [&](double from, double to) {
    rest.push_back(turn);
    rest.back().start = from;
    rest.back().end = to;
  };
  double start = turn.start;
  for (const Span& stretch : stretches) {
    if (stretch.end <= start || stretch.start >= turn.end) continue;
    if (stretch.start > start) keep(start, stretch.start);
    start = stretch.end;
  }
  if (start < turn.end) keep(start, turn.end);
  return rest;
}

class SideCleaner {
 public:
  SideCleaner(const SideLevels& own, const SideLevels& other, const std::vector<Turn>& other_turns)
      : own_(own), other_(other), other_speech_(union_of(other_turns)) {}

  // What stays of turns when leaks are cut out.
  std::vector<Turn> clean(const std::vector<Turn>& turns) const {
    std::vector<Turn> kept;
    for (const Turn& turn : turns) {
      const std::vector<Span> leaks = leaks_in(turn);
      if (leaks.empty()) {
        kept.push_back(turn);
        continue;
      }
      for (const Turn& part : without(turn, leaks))
        if (part.end - part.start >= CrossTalk::kShortest) kept.push_back(part);
    }
    return kept;
  }

 private:
  std::vector<Span> leaks_in(const Turn& turn) const {
    constexpr double kStep = 0.01;
    std::vector<Span> leaks;
    const int steps = static_cast<int>(std::ceil((turn.end - turn.start) / kStep));
    bool open = false;
    for (int i = 0; i < steps; ++i) {
      const Span step{turn.start + i * kStep, std::min(turn.end, turn.start + (i + 1) * kStep)};
      const bool leak = is_leak((step.start + step.end) / 2);
      if (leak && open) leaks.back().end = step.end;
      if (leak && !open) leaks.push_back(step);
      open = leak;
    }
    std::erase_if(leaks, [&](const Span& leak) {
      const bool whole = leak.start <= turn.start && leak.end >= turn.end;
      return !whole && leak.end - leak.start < CrossTalk::kShortestLeak;
    });
    return leaks;
  }

  bool is_leak(double time) const {
    const auto behind = std::upper_bound(other_speech_.begin(), other_speech_.end(), time,
                                         [](double t, const Span& span) { return t < span.start; });
    if (behind == other_speech_.begin() || std::prev(behind)->end <= time) return false;
    const double half = CrossTalk::kWindow / 2;
    const double theirs = other_.power(time - half, time + half);
    return theirs > 0 && theirs >= CrossTalk::kLouder * own_.power(time - half, time + half);
  }

  const SideLevels& own_;
  const SideLevels& other_;
  std::vector<Span> other_speech_;
};

std::vector<double> seconds_of(const std::vector<Turn>& turns, std::size_t speakers) {
  std::vector<double> seconds(speakers, 0.0);
  for (const Turn& turn : turns)
    seconds[static_cast<std::size_t>(turn.speaker)] += turn.end - turn.start;
  return seconds;
}

void drop_speakers(std::vector<Turn>& turns, const std::vector<bool>& gone) {
  std::erase_if(turns,
                [&](const Turn& turn) { return gone[static_cast<std::size_t>(turn.speaker)]; });
}

struct CleanSide {
  std::vector<Turn> turns;
  std::vector<Turn> exclusive;
  double removed = 0;  // seconds of speech
};

CleanSide clean_side(const Side& own, const Side& other) {
  const SideCleaner cleaner(*own.levels, *other.levels, other.result.turns);
  CleanSide clean{.turns = cleaner.clean(own.result.turns),
                  .exclusive = cleaner.clean(own.result.exclusive_turns)};
  const std::size_t speakers = own.result.speakers.size();
  const std::vector<double> before = seconds_of(own.result.turns, speakers);
  const std::vector<double> after = seconds_of(clean.turns, speakers);
  std::vector<bool> gone(speakers);
  for (std::size_t i = 0; i < speakers; ++i) gone[i] = after[i] < CrossTalk::kLeast * before[i];
  drop_speakers(clean.turns, gone);
  drop_speakers(clean.exclusive, gone);
  for (std::size_t i = 0; i < speakers; ++i) clean.removed += before[i] - (gone[i] ? 0 : after[i]);
  return clean;
}

// Where exclusive turns of both sides run at the same time, the louder side's goes on.
void make_exclusive(std::array<CleanSide, 2>& clean, const std::array<Side, 2>& sides) {
  std::array<std::vector<Span>, 2> losses;
  std::size_t first_right = 0;
  for (const Turn& left : clean[0].exclusive) {
    while (first_right < clean[1].exclusive.size() &&
           clean[1].exclusive[first_right].end <= left.start)
      ++first_right;
    for (std::size_t i = first_right; i < clean[1].exclusive.size(); ++i) {
      const Turn& right = clean[1].exclusive[i];
      const Span both{std::max(left.start, right.start), std::min(left.end, right.end)};
      if (right.start >= left.end) break;
      if (both.start >= both.end) continue;
      const bool right_wins = sides[1].levels->power(both.start, both.end) >
                              sides[0].levels->power(both.start, both.end);
      losses[right_wins ? 0 : 1].push_back(both);
    }
  }
  for (std::size_t side = 0; side < 2; ++side) {
    std::vector<Turn> rest;
    for (const Turn& turn : clean[side].exclusive)
      for (const Turn& part : without(turn, losses[side])) rest.push_back(part);
    clean[side].exclusive = std::move(rest);
  }
}

// Appends the speakers of a side that are left, and turns the numbers of its turns into theirs.
void add_side(std::size_t number, Side& side, CleanSide& clean, Diarization& merged) {
  std::vector<int> place(side.result.speakers.size(), -1);
  int count = 0;
  for (const Turn& turn : clean.turns) {  // by start
    const auto old = static_cast<std::size_t>(turn.speaker);
    if (place[old] >= 0) continue;
    place[old] = static_cast<int>(merged.speakers.size());
    Speaker speaker = std::move(side.result.speakers[old]);
    speaker.name = fmt::format("{}_{:02}", kLabels[number], count++);
    merged.speakers.push_back(std::move(speaker));
  }
  const auto add = [&](const std::vector<Turn>& turns, std::vector<Turn>& to) {
    for (const Turn& turn : turns) {
      const int speaker = place[static_cast<std::size_t>(turn.speaker)];
      if (speaker < 0) continue;
      to.push_back(turn);
      to.back().speaker = speaker;
    }
  };
  add(clean.turns, merged.turns);
  add(clean.exclusive, merged.exclusive_turns);
}

void sort_turns(std::vector<Turn>& turns) {
  std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return std::pair(a.start, a.end) < std::pair(b.start, b.end);
  });
}

// What both sides say is said once.
std::vector<std::string> merge_warnings(const std::array<Side, 2>& sides) {
  std::vector<std::string> merged;
  const auto has = [](const std::vector<std::string>& texts, const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
  };
  for (std::size_t side = 0; side < 2; ++side)
    for (const std::string& text : sides[side].result.warnings) {
      const bool both = has(sides[1 - side].result.warnings, text);
      if (both && side == 1) continue;
      merged.push_back(both ? text : fmt::format("{} side: {}", kSideNames[side], text));
    }
  return merged;
}

void keep_larger(std::vector<std::uint8_t>& levels, const std::vector<std::uint8_t>& other) {
  levels.resize(std::max(levels.size(), other.size()));
  for (std::size_t i = 0; i < other.size(); ++i) levels[i] = std::max(levels[i], other[i]);
}

// One outline for both sides: the louder one of every moment.
std::shared_ptr<const Waveform> merge_waveforms(const Diarization& left, const Diarization& right) {
  if (!left.waveform || !right.waveform) return nullptr;
  Waveform merged = *left.waveform;
  merged.duration = std::max(merged.duration, right.waveform->duration);
  keep_larger(merged.peak, right.waveform->peak);
  keep_larger(merged.power, right.waveform->power);
  return std::make_shared<const Waveform>(std::move(merged));
}

}  // namespace

Diarization merge_sides(std::array<Side, 2> sides) {
  std::array<CleanSide, 2> clean = {clean_side(sides[0], sides[1]), clean_side(sides[1], sides[0])};
  make_exclusive(clean, sides);
  Diarization merged;
  merged.uri = sides[0].result.uri;
  merged.duration = std::max(sides[0].result.duration, sides[1].result.duration);
  merged.settings = sides[0].result.settings;
  merged.warnings = merge_warnings(sides);
  merged.waveform = merge_waveforms(sides[0].result, sides[1].result);
  for (std::size_t side = 0; side < 2; ++side) {
    merged.timings += sides[side].result.timings;
    add_side(side, sides[side], clean[side], merged);
    if (clean[side].removed > 0)
      merged.warnings.push_back(
          fmt::format("{:.1f} s of turns on the {} side were the other side leaking and are left "
                      "out",
                      clean[side].removed, kSideNames[side]));
  }
  merged.timings.device_idle =
      (sides[0].result.timings.device_idle + sides[1].result.timings.device_idle) / 2;
  sort_turns(merged.turns);
  sort_turns(merged.exclusive_turns);
  const std::vector<double> seconds = seconds_of(merged.turns, merged.speakers.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) merged.speakers[i].speech_seconds = seconds[i];
  return merged;
}

}  // namespace diarist::pipeline
