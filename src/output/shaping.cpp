// One list of turns is shaped as it is; the exclusive one with every other speaker as a wall.

#include "diarist/shaping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "diarist/result.hpp"
#include "output/speaker_name.hpp"
#include "output/turn_order.hpp"

namespace diarist {
namespace {

void check(const TurnShaping& shaping) {
  const std::pair<const char*, double> numbers[] = {{"min_duration_off", shaping.min_duration_off},
                                                    {"min_duration_on", shaping.min_duration_on},
                                                    {"merge_gap", shaping.merge_gap},
                                                    {"pad", shaping.pad}};
  for (const auto& [name, seconds] : numbers) {
    if (!std::isfinite(seconds) || seconds < 0) {
      base::fail(ErrorCode::kInvalidArgument, "{} is {}; give a number of seconds >= 0", name,
                 seconds);
    }
  }
  if (!shaping.names.empty() && !shaping.renames.empty()) {
    base::fail(ErrorCode::kInvalidArgument,
               "names are given both in order and by name; give them one way");
  }
  const auto refuse_empty = [](const std::string& name) {
    if (name.empty()) {
      base::fail(ErrorCode::kInvalidArgument, "a name of a speaker is empty; give it letters");
    }
  };
  for (const std::string& name : shaping.names) refuse_empty(name);
  for (const auto& [old, name] : shaping.renames) refuse_empty(name);
}

// Of two turns, by their lengths.
float mean_confidence(const Turn& a, const Turn& b) {
  const double first = a.end - a.start, second = b.end - b.start;
  if (!(first + second > 0)) return a.confidence;
  return static_cast<float>(
      (first * static_cast<double>(a.confidence) + second * static_cast<double>(b.confidence)) /
      (first + second));
}

// Turns of one speaker that overlap or touch become one. `may_join` decides about pauses.
template <typename MayJoin>
std::vector<Turn> joined(std::vector<Turn> turns, MayJoin&& may_join) {
  output::sort_turns(turns);
  std::vector<Turn> result;
  std::map<int, std::size_t> last;  // of each speaker, in `result`
  for (const Turn& turn : turns) {
    const auto found = last.find(turn.speaker);
    if (found != last.end()) {
      Turn& before = result[found->second];
      if (turn.start <= before.end || may_join(before, turn)) {
        before.confidence = mean_confidence(before, turn);
        before.end = std::max(before.end, turn.end);
        continue;
      }
    }
    last[turn.speaker] = result.size();
    result.push_back(turn);
  }
  output::sort_turns(result);
  return result;
}

// Sorted list that answers who else talks in a stretch, without looking at every turn.
class Neighbours {
 public:
  explicit Neighbours(const std::vector<Turn>& turns) : turns_(turns) {
    double end = -std::numeric_limits<double>::infinity();
    for (const Turn& turn : turns_) {
      end = std::max(end, turn.end);
      reach_.push_back(end);
    }
  }

  bool talk_in(int speaker, double from, double to) const {
    // Turns that start at `to` or later can't; of those before, only from where the reach passes.
    const auto first = std::upper_bound(reach_.begin(), reach_.end(), from) - reach_.begin();
    for (auto i = static_cast<std::size_t>(first); i < turns_.size(); ++i) {
      const Turn& other = turns_[i];
      if (other.start >= to) return false;
      if (other.speaker != speaker && other.end > from) return true;
    }
    return false;
  }

 private:
  const std::vector<Turn>& turns_;
  std::vector<double> reach_;
};

std::vector<Turn> without_pauses(const std::vector<Turn>& turns, double longest, bool only_free) {
  const Neighbours neighbours(turns);
  return joined(turns, [&](const Turn& a, const Turn& b) {
    return b.start - a.end < longest &&
           !(only_free && neighbours.talk_in(a.speaker, a.end, b.start));
  });
}

// How far a turn may grow between `edge` and that of its neighbour: two speakers meet in the
// middle, one speaker's turns may touch and then become one.
double border(double edge, const Turn& turn, const Turn& neighbour, double neighbour_edge) {
  return turn.speaker == neighbour.speaker ? neighbour_edge : (edge + neighbour_edge) / 2;
}

std::vector<Turn> padded(std::vector<Turn> turns, double pad, double duration, bool exclusive) {
  const std::vector<Turn> before = turns;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Turn& turn = before[i];
    double first = 0;
    double last = duration > 0 ? duration : std::numeric_limits<double>::infinity();
    if (exclusive && i > 0) first = border(turn.start, turn, before[i - 1], before[i - 1].end);
    if (exclusive && i + 1 < before.size())
      last = std::min(last, border(turn.end, turn, before[i + 1], before[i + 1].start));
    // What lies beyond the border already stays where it is.
    turns[i].start = std::min(turn.start, std::max(first, turn.start - pad));
    turns[i].end = std::max(turn.end, std::min(last, turn.end + pad));
  }
  return joined(std::move(turns), [](const Turn&, const Turn&) { return false; });
}

std::vector<Turn> shaped_turns(std::vector<Turn> turns, const TurnShaping& shaping, double duration,
                               bool exclusive) {
  output::sort_turns(turns);
  turns = without_pauses(turns, shaping.min_duration_off, exclusive);
  std::erase_if(turns,
                [&](const Turn& turn) { return turn.end - turn.start < shaping.min_duration_on; });
  if (shaping.merge_gap > 0) turns = without_pauses(turns, shaping.merge_gap, true);
  if (shaping.pad > 0) turns = padded(std::move(turns), shaping.pad, duration, exclusive);
  return turns;
}

// Names that were given one after the other, as if at once.
std::map<std::string, std::string> chained(const std::map<std::string, std::string>& before,
                                           std::map<std::string, std::string> then) {
  std::map<std::string, std::string> all;
  for (const auto& [old, name] : before) {
    const auto again = then.find(name);
    all[old] = again == then.end() ? name : again->second;
    if (again != then.end()) then.erase(again);
  }
  all.merge(then);
  return all;
}

// New names, and speakers that share one made into the first of them.
void rename(Diarization& result, const TurnShaping& shaping) {
  std::map<std::string, std::string> renames = shaping.renames;
  std::set<std::string> unused;
  for (const auto& [old, name] : renames) unused.insert(old);
  for (std::size_t i = 0; i < shaping.names.size(); ++i) {
    if (i < result.speakers.size()) {
      renames[result.speakers[i].name] = shaping.names[i];
    } else {
      result.warnings.push_back(fmt::format("name '{}' is not used: {} speakers were found",
                                            shaping.names[i], result.speakers.size()));
    }
  }
  std::map<std::string, int> taken;
  std::vector<int> places;
  std::vector<Speaker> speakers;
  std::map<std::string, std::string> done;
  for (Speaker& speaker : result.speakers) {
    auto found = renames.find(speaker.name);
    // Who was named after a voice is still found under the number it had.
    if (found == renames.end() && speaker.voice) found = renames.find(speaker.voice->speaker);
    if (found != renames.end()) {
      unused.erase(found->first);
      if (found->second != speaker.name) done[speaker.name] = found->second;
      speaker.name = found->second;
    }
    const auto [place, added] = taken.emplace(speaker.name, static_cast<int>(speakers.size()));
    places.push_back(place->second);
    if (added) speakers.push_back(std::move(speaker));
  }
  for (const std::string& old : unused) {
    result.warnings.push_back(
        fmt::format("name '{}' is not used: there is no speaker '{}'", renames[old], old));
  }
  for (auto* turns : {&result.turns, &result.exclusive_turns}) {
    for (Turn& turn : *turns) turn.speaker = places[static_cast<std::size_t>(turn.speaker)];
  }
  result.speakers = std::move(speakers);
  result.settings.shaping.names.clear();
  result.settings.shaping.renames = std::move(done);
}

// Speakers without turns go, the others are counted again.
void count_speakers(Diarization& result) {
  std::vector<double> seconds(result.speakers.size(), 0.0);
  std::vector<bool> speaks(result.speakers.size(), false);
  for (const Turn& turn : result.turns) {
    seconds[static_cast<std::size_t>(turn.speaker)] += turn.end - turn.start;
    speaks[static_cast<std::size_t>(turn.speaker)] = true;
  }
  std::vector<int> places(result.speakers.size(), -1);
  std::vector<Speaker> speakers;
  for (std::size_t i = 0; i < result.speakers.size(); ++i) {
    if (!speaks[i]) continue;
    places[i] = static_cast<int>(speakers.size());
    result.speakers[i].speech_seconds = seconds[i];
    speakers.push_back(std::move(result.speakers[i]));
  }
  const auto place = [&](const Turn& turn) {
    return places[static_cast<std::size_t>(turn.speaker)];
  };
  std::erase_if(result.exclusive_turns, [&](const Turn& turn) { return place(turn) < 0; });
  for (auto* turns : {&result.turns, &result.exclusive_turns}) {
    for (Turn& turn : *turns) turn.speaker = place(turn);
    output::sort_turns(*turns);
  }
  result.speakers = std::move(speakers);
}

}  // namespace

Diarization shaped(Diarization result, const TurnShaping& shaping) {
  check(shaping);
  if (shaping == TurnShaping{}) return result;
  output::check_printable(result);
  std::map<std::string, std::string> before = std::move(result.settings.shaping.renames);
  result.settings.shaping = shaping;
  rename(result, shaping);
  result.settings.shaping.renames = chained(before, std::move(result.settings.shaping.renames));
  result.turns = shaped_turns(std::move(result.turns), shaping, result.duration, false);
  result.exclusive_turns =
      shaped_turns(std::move(result.exclusive_turns), shaping, result.duration, true);
  if (shaping.exclusive) result.turns = result.exclusive_turns;
  count_speakers(result);
  return result;
}

}  // namespace diarist
