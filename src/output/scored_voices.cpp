#include "output/scored_voices.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace diarist::output {
namespace {

void sort_by_time(std::vector<Voice>& voices) {
  std::stable_sort(voices.begin(), voices.end(),
                   [](const Voice& a, const Voice& b) { return a.span < b.span; });
}

// A, B, ..., Z, AA, AB, ...
std::string letters(int index) {
  std::string text;
  for (int left = index + 1; left > 0; left = (left - 1) / 26) {
    text.insert(text.begin(), static_cast<char>('A' + (left - 1) % 26));
  }
  return text;
}

// Place of each of `count` renamed speakers once their new names are sorted as text.
std::vector<int> places(int count, Side side) {
  std::map<std::string, int> by_name;
  for (int i = 0; i < count; ++i) {
    by_name.emplace(side == Side::kReference ? letters(i) : std::to_string(i), i);
  }
  std::vector<int> place(static_cast<std::size_t>(count));
  int next = 0;
  for (const auto& [name, index] : by_name) place[static_cast<std::size_t>(index)] = next++;
  return place;
}

}  // namespace

Voices voices_of(const std::vector<RttmTurn>& turns) {
  std::map<std::string, int> index;
  const auto span_of = [](const RttmTurn& turn) {
    return Span{turn.start, turn.start + turn.duration};
  };
  for (const RttmTurn& turn : turns) {
    if (!span_of(turn).empty()) index.emplace(turn.label, 0);
  }
  Voices result;
  for (auto& [name, number] : index) {
    number = static_cast<int>(result.names.size());
    result.names.push_back(name);
  }
  for (const RttmTurn& turn : turns) {
    if (!span_of(turn).empty()) result.voices.push_back({span_of(turn), index[turn.label]});
  }
  sort_by_time(result.voices);
  return result;
}

std::vector<std::string> speakers_with_themselves(const Voices& voices) {
  std::vector<Span> last(voices.names.size());
  std::set<std::string> found;
  for (const auto& [span, speaker] : voices.voices) {
    Span& before = last[static_cast<std::size_t>(speaker)];
    if (!intersection(before, span).empty()) {
      found.insert(voices.names[static_cast<std::size_t>(speaker)]);
    }
    if (before.end < span.end) before = span;
  }
  return {found.begin(), found.end()};
}

void merge_own_overlaps(Voices& voices) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last(voices.names.size(), kNone);  // index of the speaker's last turn
  std::vector<Voice> result;
  for (const Voice& voice : voices.voices) {
    std::size_t& before = last[static_cast<std::size_t>(voice.speaker)];
    if (before != kNone && !intersection(result[before].span, voice.span).empty()) {
      result[before].span.end = std::max(result[before].span.end, voice.span.end);
    } else {
      before = result.size();
      result.push_back(voice);
    }
  }
  sort_by_time(result);
  voices.voices = std::move(result);
}

std::vector<Span> scored_regions(const Voices& reference, const std::vector<Span>& evaluated,
                                 const ScoringOptions& options) {
  std::vector<Span> removed;
  if (options.collar > 0) {
    for (const Voice& voice : reference.voices) {
      for (const double edge : {voice.span.start, voice.span.end}) {
        removed.push_back({edge - options.collar, edge + options.collar});
      }
    }
  }
  if (options.skip_overlap && !reference.voices.empty()) {
    // Of the overlaps of a turn with earlier ones all begin at its start: the one with the turn
    // that ends last contains the others.
    double last_end = reference.voices.front().span.start;
    for (const Voice& voice : reference.voices) {
      removed.push_back({voice.span.start, std::min(voice.span.end, last_end)});
      last_end = std::max(last_end, voice.span.end);
    }
  }
  const std::vector<Span> unscored = merged(std::move(removed));
  std::vector<Span> regions;
  for (const Span& span : evaluated) {
    const std::vector<Span> parts = outside(unscored, span);
    regions.insert(regions.end(), parts.begin(), parts.end());
  }
  return regions;
}

int speakers_inside(const Voices& voices, const std::vector<Span>& regions) {
  std::vector<bool> inside(voices.names.size(), false);
  for (const Voice& voice : voices.voices) {
    const auto speaker = static_cast<std::size_t>(voice.speaker);
    if (!inside[speaker]) inside[speaker] = !parts_inside(voice.span, regions).empty();
  }
  return static_cast<int>(std::count(inside.begin(), inside.end(), true));
}

Voices cropped(const Voices& voices, const std::vector<Span>& regions, Side side) {
  std::vector<Voice> parts;
  std::vector<bool> remains(voices.names.size(), false);
  for (const Voice& voice : voices.voices) {
    for (const Span& part : parts_inside(voice.span, regions)) {
      parts.push_back({part, voice.speaker});
      remains[static_cast<std::size_t>(voice.speaker)] = true;
    }
  }
  const int count = static_cast<int>(std::count(remains.begin(), remains.end(), true));
  const std::vector<int> place = places(count, side);
  std::vector<int> number(voices.names.size(), -1);
  Voices result;
  result.names.resize(static_cast<std::size_t>(count));
  int next = 0;
  for (std::size_t old = 0; old < remains.size(); ++old) {
    if (!remains[old]) continue;
    number[old] = place[static_cast<std::size_t>(next++)];
    result.names[static_cast<std::size_t>(number[old])] = voices.names[old];
  }
  for (Voice& part : parts) part.speaker = number[static_cast<std::size_t>(part.speaker)];
  result.voices = std::move(parts);
  sort_by_time(result.voices);
  return result;
}

std::vector<double> seconds_together(const Voices& rows, const Voices& columns) {
  std::vector<double> seconds(rows.names.size() * columns.names.size(), 0.0);
  // Latest end among the first columns: those that ended before a row's start are passed over.
  std::vector<double> latest;
  for (const Voice& column : columns.voices) {
    latest.push_back(latest.empty() ? column.span.end : std::max(latest.back(), column.span.end));
  }
  std::size_t first = 0;
  // Rows, then columns in order of time: the order of the sums is that of pyannote.core, so
  // rounding breaks no tie that it leaves, and the other way round.
  for (const Voice& row : rows.voices) {
    while (first < latest.size() && latest[first] <= row.span.start) ++first;
    for (std::size_t i = first; i < columns.voices.size(); ++i) {
      const Voice& column = columns.voices[i];
      if (column.span.start >= row.span.end) break;
      seconds[static_cast<std::size_t>(row.speaker) * columns.names.size() +
              static_cast<std::size_t>(column.speaker)] +=
          intersection(row.span, column.span).length();
    }
  }
  return seconds;
}

}  // namespace diarist::output
