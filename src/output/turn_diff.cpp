// Changes between two diarizations: docs/scoring.md says what counts as which.
#include "diarist/turn_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "output/score_parts.hpp"
#include "output/scored_voices.hpp"

namespace diarist {
namespace {

using output::Span;
using output::Voice;
using output::Voices;

constexpr std::size_t kMostSpeakers = 4096;
constexpr int kNobody = -1;

// One voice that differs: who was there, who is there now. Speakers of both sides share numbers.
struct Difference {
  int before = kNobody;
  int after = kNobody;
  friend bool operator<(const Difference& a, const Difference& b) {
    return std::tie(a.before, a.after) < std::tie(b.before, b.after);
  }
};

struct OpenChange {
  Difference difference;
  double start = 0;
  bool before_was_shared = false;  // the voice was in both sides right before
  bool after_was_shared = false;
};

// Walks through one recording from boundary to boundary.
class Walk {
 public:
  Walk(const std::string& uri, const Voices& first, const Voices& second,
       const std::vector<int>& first_of)
      : uri_(uri), first_(first), second_(second) {
    for (std::size_t h = 0; h < first_of.size(); ++h) {
      const int alone = static_cast<int>(first.names.size() + h);
      number_.push_back(first_of[h] >= 0 ? first_of[h] : alone);
    }
    const std::size_t count = first.names.size() + second.names.size();
    name_after_.resize(count);
    for (std::size_t h = 0; h < number_.size(); ++h) {
      name_after_[static_cast<std::size_t>(number_[h])] = second.names[h];
    }
    talks_first_.resize(count, 0);
    talks_second_.resize(count, 0);
  }

  std::vector<TurnChange> run(RecordingDiff& diff) && {
    struct Event {
      double time;
      int speaker;
      int step;
      bool second;
    };
    std::vector<Event> events;
    for (const bool second : {false, true}) {
      for (const Voice& voice : (second ? second_ : first_).voices) {
        const int speaker =
            second ? number_[static_cast<std::size_t>(voice.speaker)] : voice.speaker;
        events.push_back({voice.span.start, speaker, +1, second});
        events.push_back({voice.span.end, speaker, -1, second});
      }
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i > 0) add_stretch({events[i - 1].time, events[i].time}, diff);
      step(events[i].speaker, events[i].step, events[i].second);
    }
    if (!events.empty()) close_others({}, events.back().time);
    return std::move(changes_);
  }

 private:
  static std::size_t at(int speaker) { return static_cast<std::size_t>(speaker); }

  bool shared(int speaker) const {
    return speaker != kNobody && talks_first_[at(speaker)] > 0 && talks_second_[at(speaker)] > 0;
  }

  void step(int speaker, int step, bool second) {
    (second ? talks_second_ : talks_first_)[at(speaker)] += step;
    const bool before = talks_first_[at(speaker)] > 0;
    const bool after = talks_second_[at(speaker)] > 0;
    const auto set = [&](std::set<int>& speakers, bool in) {
      if (in) {
        speakers.insert(speaker);
      } else {
        speakers.erase(speaker);
      }
    };
    set(gone_, before && !after);
    set(come_, after && !before);
    set(stayed_, before && after);
  }

  // Pairs who is gone with who has come; pairs of the stretch before go on.
  std::set<Difference> differences() const {
    std::set<Difference> result;
    std::set<int> gone = gone_;
    std::set<int> come = come_;
    for (const OpenChange& change : open_) {
      const auto [before, after] = change.difference;
      if (before != kNobody && after != kNobody && gone.contains(before) && come.contains(after)) {
        result.insert(change.difference);
        gone.erase(before);
        come.erase(after);
      }
    }
    while (!gone.empty() || !come.empty()) {
      Difference difference;
      if (!gone.empty()) difference.before = gone.extract(gone.begin()).value();
      if (!come.empty()) difference.after = come.extract(come.begin()).value();
      result.insert(difference);
    }
    return result;
  }

  void add_stretch(const Span& stretch, RecordingDiff& diff) {
    if (stretch.empty()) return;
    diff.same += stretch.length() * static_cast<double>(stayed_.size());
    const std::set<Difference> now = differences();
    close_others(now, stretch.start);
    for (const Difference& difference : now) {
      const bool goes_on = std::any_of(open_.begin(), open_.end(), [&](const OpenChange& change) {
        return !(change.difference < difference) && !(difference < change.difference);
      });
      if (goes_on) continue;
      open_.push_back({difference, stretch.start, shared_before_.contains(difference.before),
                       shared_before_.contains(difference.after)});
    }
    shared_before_ = stayed_;
  }

  // Ends the changes that are not in the stretch that begins at `time`.
  void close_others(const std::set<Difference>& now, double time) {
    for (const OpenChange& change : open_) {
      if (!now.contains(change.difference)) add_change(change, time);
    }
    std::erase_if(open_,
                  [&](const OpenChange& change) { return !now.contains(change.difference); });
  }

  void add_change(const OpenChange& open, double end) {
    const auto [before, after] = open.difference;
    TurnChange change{uri_, kind_of(open), open.start, end, std::nullopt, std::nullopt};
    if (before != kNobody) change.before = first_.names[at(before)];
    if (after != kNobody) change.after = name_after_[at(after)];
    changes_.push_back(std::move(change));
  }

  // Called when the stretch after the change has just begun.
  ChangeKind kind_of(const OpenChange& open) const {
    const auto [before, after] = open.difference;
    if (before != kNobody && after != kNobody) {
      const bool handed_over =
          (open.before_was_shared && shared(after)) || (open.after_was_shared && shared(before));
      return handed_over ? ChangeKind::kBoundary : ChangeKind::kSpeaker;
    }
    const bool was_shared = before != kNobody ? open.before_was_shared : open.after_was_shared;
    const bool is_shared = shared(before != kNobody ? before : after);
    if (was_shared != is_shared) return ChangeKind::kBoundary;
    return before != kNobody ? ChangeKind::kVanished : ChangeKind::kAppeared;
  }

  const std::string& uri_;
  const Voices& first_;
  const Voices& second_;
  std::vector<int> number_;              // common number of each speaker of the second side
  std::vector<std::string> name_after_;  // by common number
  std::vector<int> talks_first_;         // voices now, by common number
  std::vector<int> talks_second_;
  std::set<int> gone_;
  std::set<int> come_;
  std::set<int> stayed_;
  std::set<int> shared_before_;  // stayed_ of the stretch before
  std::vector<OpenChange> open_;
  std::vector<TurnChange> changes_;
};

Voices voices(const std::string& uri, const std::vector<RttmTurn>& turns) {
  Voices voices = output::voices_of(turns);
  if (voices.names.size() > kMostSpeakers) {
    base::fail(ErrorCode::kUnsupported, "'{}' has {} speakers and at most {} can be compared", uri,
               voices.names.size(), kMostSpeakers);
  }
  output::merge_own_overlaps(voices);
  return voices;
}

void add_recording(const std::string& uri, const std::vector<RttmTurn>& before,
                   const std::vector<RttmTurn>& after, const DiffOptions& options,
                   DiffReport& report) {
  const Voices first = voices(uri, before);
  const Voices second = voices(uri, after);
  std::vector<int> first_of;
  if (options.by_name) {
    for (const std::string& name : second.names) {
      const auto found = std::find(first.names.begin(), first.names.end(), name);
      first_of.push_back(
          found == first.names.end() ? kNobody : static_cast<int>(found - first.names.begin()));
    }
  } else {
    first_of = output::paired(second, first);
  }
  RecordingDiff diff;
  diff.uri = uri;
  diff.mapping = output::speaker_pairs(first, second, first_of);
  diff.speakers_before = static_cast<int>(first.names.size());
  diff.speakers_after = static_cast<int>(second.names.size());
  for (TurnChange& change : Walk(uri, first, second, first_of).run(diff)) {
    if (change.seconds() < options.min_seconds) continue;
    diff.seconds[static_cast<std::size_t>(change.kind)] += change.seconds();
    report.changes.push_back(std::move(change));
  }
  report.same += diff.same;
  for (std::size_t kind = 0; kind < kChangeKinds; ++kind) {
    report.seconds[kind] += diff.seconds[kind];
  }
  report.recordings.push_back(std::move(diff));
}

}  // namespace

const char* name_of(ChangeKind kind) noexcept {
  switch (kind) {
    case ChangeKind::kSpeaker:
      return "speaker";
    case ChangeKind::kAppeared:
      return "appeared";
    case ChangeKind::kVanished:
      return "vanished";
    case ChangeKind::kBoundary:
      return "boundary";
  }
  return "";
}

DiffReport diff_turns(const RttmFile& before, const RttmFile& after, const DiffOptions& options) {
  if (!(options.min_seconds >= 0) || !std::isfinite(options.min_seconds)) {
    base::fail(ErrorCode::kInvalidArgument,
               "the shortest change is {} and must be a number of seconds >= 0",
               options.min_seconds);
  }
  static const std::vector<RttmTurn> kSilence;
  DiffReport report;
  if (before.size() == 1 && after.size() == 1 && before.begin()->first != after.begin()->first) {
    const std::string& uri = before.begin()->first;
    report.warnings.push_back(fmt::format(
        "the first is of '{}' and the second of '{}': compared all the same, since there is one of "
        "each",
        uri, after.begin()->first));
    add_recording(uri, before.begin()->second, after.begin()->second, options, report);
  } else {
    std::set<std::string> uris;
    for (const auto& [uri, turns] : before) uris.insert(uri);
    for (const auto& [uri, turns] : after) uris.insert(uri);
    for (const std::string& uri : uris) {
      const auto first = before.find(uri);
      const auto second = after.find(uri);
      if (second == after.end()) report.only_before.push_back(uri);
      if (first == before.end()) report.only_after.push_back(uri);
      add_recording(uri, first == before.end() ? kSilence : first->second,
                    second == after.end() ? kSilence : second->second, options, report);
    }
  }
  std::sort(
      report.changes.begin(), report.changes.end(), [](const TurnChange& a, const TurnChange& b) {
        // Whole microseconds: rounding noise of the ends must not decide.
        const auto length = [](const TurnChange& change) {
          return std::llround(std::min(change.seconds(), 1e12) * 1e6);
        };
        return std::make_tuple(-length(a), std::cref(a.uri), a.start, std::cref(a.before),
                               std::cref(a.after)) < std::make_tuple(-length(b), std::cref(b.uri),
                                                                     b.start, std::cref(b.before),
                                                                     std::cref(b.after));
      });
  return report;
}

}  // namespace diarist
