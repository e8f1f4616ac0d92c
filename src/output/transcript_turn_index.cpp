#include "output/transcript_turn_index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace diarist::output {
namespace {

constexpr Microseconds kNever = std::numeric_limits<Microseconds>::min();
constexpr Microseconds kForever = std::numeric_limits<Microseconds>::max();

// Of speakers who are equal in what was asked, the one to take.
struct Candidate {
  int speaker = TurnIndex::kNobody;
  Microseconds first_start = 0;
  Microseconds amount = 0;
};

bool wins(const Candidate& a, const Candidate& b, int preferred) {
  if (a.amount != b.amount) return a.amount > b.amount;
  if ((a.speaker == preferred) != (b.speaker == preferred)) return a.speaker == preferred;
  return std::tie(a.first_start, a.speaker) < std::tie(b.first_start, b.speaker);
}

int best(const std::vector<Candidate>& candidates, int preferred) {
  const auto found = std::min_element(
      candidates.begin(), candidates.end(),
      [&](const Candidate& a, const Candidate& b) { return wins(a, b, preferred); });
  return found == candidates.end() ? TurnIndex::kNobody : found->speaker;
}

void add(std::vector<Candidate>& candidates, int speaker, Microseconds start, Microseconds amount) {
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate& c) { return c.speaker == speaker; });
  if (found == candidates.end()) {
    candidates.push_back({speaker, start, amount});
  } else {
    found->amount += amount;
  }
}

}  // namespace

Microseconds microseconds(double seconds) {
  constexpr double kMost = 1e12;
  return std::llround(std::clamp(seconds, -kMost, kMost) * 1e6);
}

TurnIndex::TurnIndex(const std::vector<RttmTurn>& turns) {
  std::map<std::string, std::vector<TimeSpan>> spans;
  for (const RttmTurn& turn : turns) {
    const TimeSpan span{microseconds(turn.start), microseconds(turn.start + turn.duration)};
    if (span.end > span.start) spans[turn.label].push_back(span);
  }
  for (auto& [name, list] : spans) {
    const int speaker = static_cast<int>(names_.size());
    names_.push_back(name);
    std::sort(list.begin(), list.end(),
              [](const TimeSpan& a, const TimeSpan& b) { return a.start < b.start; });
    const std::size_t first = stretches_.size();
    for (const TimeSpan& span : list) {
      if (stretches_.size() > first && span.start <= stretches_.back().span.end) {
        stretches_.back().span.end = std::max(stretches_.back().span.end, span.end);
      } else {
        stretches_.push_back({span, speaker});
      }
    }
  }
  std::sort(stretches_.begin(), stretches_.end(), [](const Stretch& a, const Stretch& b) {
    return std::tie(a.span.start, a.speaker) < std::tie(b.span.start, b.speaker);
  });
  while (leaves_ < stretches_.size()) leaves_ *= 2;
  latest_end_.assign(2 * leaves_, kNever);
  for (std::size_t i = 0; i < stretches_.size(); ++i)
    latest_end_[leaves_ + i] = stretches_[i].span.end;
  for (std::size_t node = leaves_ - 1; node > 0; --node)
    latest_end_[node] = std::max(latest_end_[2 * node], latest_end_[2 * node + 1]);
}

template <typename Visit>
void TurnIndex::visit(Microseconds first, Microseconds last, Visit&& visit) const {
  const auto end = std::upper_bound(
      stretches_.begin(), stretches_.end(), last,
      [](Microseconds time, const Stretch& stretch) { return time < stretch.span.start; });
  const auto count = static_cast<std::size_t>(end - stretches_.begin());
  // Down the tree, left before right, where something ends late enough.
  std::vector<std::pair<std::size_t, std::size_t>> open;  // node, first leaf below it
  open.emplace_back(1, 0);
  while (!open.empty()) {
    const auto [node, leaf] = open.back();
    open.pop_back();
    if (leaf >= count || latest_end_[node] < first) continue;
    if (node >= leaves_) {
      visit(stretches_[leaf]);
      continue;
    }
    std::size_t width = leaves_;  // leaves below a child
    for (std::size_t above = node; above > 0; above /= 2) width /= 2;
    open.emplace_back(2 * node + 1, leaf + width);
    open.emplace_back(2 * node, leaf);
  }
}

Microseconds TurnIndex::distance_to_nearest(const TimeSpan& span) const {
  const auto next = std::upper_bound(
      stretches_.begin(), stretches_.end(), span.end,
      [](Microseconds time, const Stretch& stretch) { return time < stretch.span.start; });
  Microseconds nearest = kForever;
  if (next != stretches_.end()) nearest = next->span.start - span.end;
  // The latest end of all that start before the span's end: leaves [0, next).
  Microseconds latest = kNever;
  for (std::size_t left = leaves_,
                   right = leaves_ + static_cast<std::size_t>(next - stretches_.begin());
       left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) latest = std::max(latest, latest_end_[left++]);
    if (right % 2 == 1) latest = std::max(latest, latest_end_[--right]);
  }
  if (latest != kNever) nearest = std::min(nearest, std::max<Microseconds>(span.start - latest, 0));
  return nearest;
}

int TurnIndex::speaker_in(const TimeSpan& span, int preferred, Microseconds max_distance) const {
  std::vector<Candidate> candidates;
  visit(span.start, span.end, [&](const Stretch& stretch) {
    const Microseconds both =
        std::min(span.end, stretch.span.end) - std::max(span.start, stretch.span.start);
    if (both > 0) add(candidates, stretch.speaker, stretch.span.start, both);
  });
  if (!candidates.empty()) return best(candidates, preferred);
  const Microseconds distance = distance_to_nearest(span);
  if (distance > max_distance) return kNobody;
  visit(span.start - distance, span.end + distance,
        [&](const Stretch& stretch) { add(candidates, stretch.speaker, stretch.span.start, 0); });
  return best(candidates, preferred);
}

Microseconds TurnIndex::time_of(int speaker, const TimeSpan& span) const {
  Microseconds sum = 0;
  visit(span.start, span.end, [&](const Stretch& stretch) {
    if (stretch.speaker != speaker) return;
    sum += std::max<Microseconds>(
        std::min(span.end, stretch.span.end) - std::max(span.start, stretch.span.start), 0);
  });
  return sum;
}

}  // namespace diarist::output
