#include "pipeline/stable_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

#include "cluster/assignment.hpp"

namespace diarist::pipeline {
namespace {

// Seconds in common [now, before].
std::vector<double> common_seconds(const Diarization& now, const std::vector<Turn>& before,
                                   std::size_t names) {
  std::vector<double> seconds(now.speakers.size() * names, 0.0);
  for (const Turn& turn : now.turns)
    for (const Turn& old : before) {
      if (old.start >= turn.end) break;  // they are sorted by start
      const double common = std::min(turn.end, old.end) - std::max(turn.start, old.start);
      if (common > 0)
        seconds[static_cast<std::size_t>(turn.speaker) * names +
                static_cast<std::size_t>(old.speaker)] += common;
    }
  return seconds;
}

void sort_turns(std::vector<Turn>& turns) {
  std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return std::tie(a.start, a.end, a.speaker) < std::tie(b.start, b.end, b.speaker);
  });
}

// By number: names are SPEAKER_00 to SPEAKER_99, then longer.
bool before(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

void reorder(Diarization& result) {
  std::vector<std::size_t> order(result.speakers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return before(result.speakers[a].name, result.speakers[b].name);
  });
  std::vector<Speaker> speakers;
  std::vector<int> place(order.size());
  for (const std::size_t old : order) {
    place[old] = static_cast<int>(speakers.size());
    speakers.push_back(std::move(result.speakers[old]));
  }
  result.speakers = std::move(speakers);
  for (std::vector<Turn>* turns : {&result.turns, &result.exclusive_turns}) {
    for (Turn& turn : *turns) turn.speaker = place[static_cast<std::size_t>(turn.speaker)];
    sort_turns(*turns);
  }
}

}  // namespace

void StableNames::apply(Diarization& result) {
  if (!names_.empty() && !result.speakers.empty()) {
    const std::vector<double> seconds = common_seconds(result, turns_, names_.size());
    const std::vector<std::int32_t> columns =
        cluster::max_assignment(seconds, result.speakers.size(), names_.size());
    std::vector<std::string> used = names_;
    std::size_t number = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::string& name = result.speakers[i].name;
      const auto column = static_cast<std::size_t>(std::max(columns[i], 0));
      if (columns[i] >= 0 && seconds[i * names_.size() + column] > 0) {
        name = names_[column];
        continue;
      }
      do name = fmt::format("SPEAKER_{:02d}", number++);
      while (std::find(used.begin(), used.end(), name) != used.end());
    }
    reorder(result);
  }
  turns_ = result.turns;
  names_.clear();
  for (const Speaker& speaker : result.speakers) names_.push_back(speaker.name);
}

}  // namespace diarist::pipeline
