#pragma once
// Who speaks when, asked for many words.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diarist/formats.hpp"

namespace diarist::output {

/// Times are whole microseconds here, so that ties are ties.
using Microseconds = std::int64_t;

/// Times beyond 31 000 years count as that.
Microseconds microseconds(double seconds);

struct TimeSpan {
  Microseconds start = 0;
  Microseconds end = 0;  ///< >= start
};

/// Speakers of a list of turns, for questions about stretches of time; turns of one speaker that
/// overlap or touch count as one. Building takes n log n steps, a question log n and as many as
/// there are turns in the stretch.
class TurnIndex {
 public:
  explicit TurnIndex(const std::vector<RttmTurn>& turns);

  /// No speaker.
  static constexpr int kNobody = -1;

  /// Names in alphabetical order; speakers are indices into it.
  const std::vector<std::string>& names() const noexcept { return names_; }

  /// The speaker who talks for most of the span; where nobody does, the one with the nearest turn
  /// at most `max_distance` away. Ties: `preferred` if it is among them, then the turn that starts
  /// first, then the name that comes first.
  int speaker_in(const TimeSpan& span, int preferred, Microseconds max_distance) const;

  /// How long one speaker talks within a span.
  Microseconds time_of(int speaker, const TimeSpan& span) const;

 private:
  struct Stretch {
    TimeSpan span;
    int speaker = kNobody;
  };

  // Calls visit(stretch) for those with start <= last and end >= first, in order of their starts.
  template <typename Visit>
  void visit(Microseconds first, Microseconds last, Visit&& visit) const;
  Microseconds distance_to_nearest(const TimeSpan& span) const;

  std::vector<std::string> names_;
  std::vector<Stretch> stretches_;        // by start, then speaker
  std::vector<Microseconds> latest_end_;  // tree over stretches_: largest end below each node
  std::size_t leaves_ = 1;                // a power of two
};

}  // namespace diarist::output
