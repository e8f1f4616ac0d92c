#include "output/score_parts.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "output/assignment.hpp"

namespace diarist::output {
namespace {

// Who talks between two neighbouring boundaries.
class Scene {
 public:
  Scene(std::size_t references, const std::vector<int>& reference_of)
      : reference_of_(reference_of),
        hypothesis_of_(references, -1),
        references_(references, 0),
        hypotheses_(reference_of.size(), 0) {
    for (std::size_t h = 0; h < reference_of.size(); ++h) {
      if (reference_of[h] >= 0) {
        hypothesis_of_[static_cast<std::size_t>(reference_of[h])] = static_cast<int>(h);
      }
    }
  }

  // A turn begins (+1) or ends (-1). A hypothesis may have a speaker twice at once: the second
  // voice can't be right as well and counts as false alarm.
  void change(Side side, int speaker, int step) {
    const bool is_reference = side == Side::kReference;
    const int r = is_reference ? speaker : reference_of_[static_cast<std::size_t>(speaker)];
    const int h = is_reference ? hypothesis_of_[static_cast<std::size_t>(speaker)] : speaker;
    right_ -= agreement(r, h);
    if (is_reference) {
      references_[static_cast<std::size_t>(r)] += step;
      said_ += step;
    } else {
      hypotheses_[static_cast<std::size_t>(h)] += step;
      heard_ += step;
    }
    right_ += agreement(r, h);
  }

  void add_seconds(double seconds, Score& score) const {
    score.total += seconds * said_;
    score.correct += seconds * right_;
    score.confusion += seconds * (std::min(said_, heard_) - right_);
    score.missed += seconds * std::max(0, said_ - heard_);
    score.false_alarm += seconds * std::max(0, heard_ - said_);
  }

 private:
  int agreement(int r, int h) const {
    if (r < 0 || h < 0) return 0;
    return std::min(references_[static_cast<std::size_t>(r)],
                    hypotheses_[static_cast<std::size_t>(h)]);
  }

  const std::vector<int>& reference_of_;
  std::vector<int> hypothesis_of_;
  std::vector<int> references_;  // voices now, per speaker
  std::vector<int> hypotheses_;
  int said_ = 0;
  int heard_ = 0;
  int right_ = 0;
};

// Per speaker the turns in order of time.
std::vector<std::vector<Span>> turns_of(const Voices& voices) {
  std::vector<std::vector<Span>> turns(voices.names.size());
  for (const Voice& voice : voices.voices) {
    turns[static_cast<std::size_t>(voice.speaker)].push_back(voice.span);
  }
  return turns;
}

// Seconds of the turns that no span of `others` covers.
double seconds_without(const std::vector<Span>& turns, const std::vector<Span>& others) {
  return total_seconds(merged(turns)) - seconds_inside(turns, merged(others));
}

}  // namespace

std::vector<int> paired(const Voices& rows, const Voices& columns) {
  const std::vector<double> seconds = seconds_together(rows, columns);
  std::vector<int> pairs = best_pairs(seconds, static_cast<int>(rows.names.size()),
                                      static_cast<int>(columns.names.size()));
  for (std::size_t row = 0; row < pairs.size(); ++row) {
    if (pairs[row] < 0) continue;
    const std::size_t cell = row * columns.names.size() + static_cast<std::size_t>(pairs[row]);
    if (!(seconds[cell] > 0)) pairs[row] = -1;
  }
  return pairs;
}

std::vector<int> paired_by_name(const std::vector<int>& pairs, const Voices& from_rows,
                                const Voices& from_columns, const Voices& rows,
                                const Voices& columns) {
  std::map<std::string, std::string> partner;
  for (std::size_t row = 0; row < pairs.size(); ++row) {
    if (pairs[row] < 0) continue;
    partner[from_rows.names[row]] = from_columns.names[static_cast<std::size_t>(pairs[row])];
  }
  std::vector<int> result;
  for (const std::string& name : rows.names) {
    const auto wanted = partner.find(name);
    const auto found = wanted == partner.end()
                           ? columns.names.end()
                           : std::find(columns.names.begin(), columns.names.end(), wanted->second);
    result.push_back(found == columns.names.end()
                         ? -1
                         : static_cast<int>(std::distance(columns.names.begin(), found)));
  }
  return result;
}

void add_error_seconds(const Voices& reference, const Voices& hypothesis,
                       const std::vector<int>& reference_of, Score& score) {
  struct Event {
    double time;
    Side side;
    int speaker;
    int step;
  };
  std::vector<Event> events;
  for (const Side side : {Side::kReference, Side::kHypothesis}) {
    for (const Voice& voice : (side == Side::kReference ? reference : hypothesis).voices) {
      events.push_back({voice.span.start, side, voice.speaker, +1});
      events.push_back({voice.span.end, side, voice.speaker, -1});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  Scene scene(reference.names.size(), reference_of);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i > 0) scene.add_seconds(Span{events[i - 1].time, events[i].time}.length(), score);
    scene.change(events[i].side, events[i].speaker, events[i].step);
  }
}

void add_jaccard_errors(const Voices& reference, const Voices& hypothesis,
                        const std::vector<int>& hypothesis_of, Score& score) {
  const std::vector<std::vector<Span>> references = turns_of(reference);
  const std::vector<std::vector<Span>> hypotheses = turns_of(hypothesis);
  for (std::size_t r = 0; r < reference.names.size(); ++r) {
    ++score.jer_speakers;
    if (hypothesis_of[r] < 0) {
      score.jer_sum += 1;
      continue;
    }
    std::vector<Span> said = references[r];
    const std::vector<Span>& heard = hypotheses[static_cast<std::size_t>(hypothesis_of[r])];
    const double apart = seconds_without(heard, said) + seconds_without(said, heard);
    said.insert(said.end(), heard.begin(), heard.end());
    score.jer_sum += apart / total_seconds(merged(std::move(said)));
  }
}

std::vector<SpeakerPair> speaker_pairs(const Voices& reference, const Voices& hypothesis,
                                       const std::vector<int>& reference_of) {
  const std::vector<std::vector<Span>> references = turns_of(reference);
  const std::vector<std::vector<Span>> hypotheses = turns_of(hypothesis);
  const auto seconds_of = [](const std::vector<Span>& turns) {
    return total_seconds(merged(turns));
  };
  std::vector<SpeakerPair> pairs;
  std::map<std::string, std::size_t> said;  // the reference's order is not that of the names
  for (std::size_t r = 0; r < reference.names.size(); ++r) said[reference.names[r]] = r;
  for (const auto& [name, r] : said) {
    SpeakerPair pair;
    pair.reference = name;
    pair.reference_seconds = seconds_of(references[r]);
    const auto partner = std::find(reference_of.begin(), reference_of.end(), static_cast<int>(r));
    if (partner != reference_of.end()) {
      const auto h = static_cast<std::size_t>(std::distance(reference_of.begin(), partner));
      pair.hypothesis = hypothesis.names[h];
      pair.hypothesis_seconds = seconds_of(hypotheses[h]);
      pair.seconds = seconds_inside(references[r], merged(hypotheses[h]));
    }
    pairs.push_back(std::move(pair));
  }
  std::map<std::string, std::size_t> alone;
  for (std::size_t h = 0; h < hypothesis.names.size(); ++h) {
    if (reference_of[h] < 0) alone[hypothesis.names[h]] = h;
  }
  for (const auto& [name, h] : alone) {
    SpeakerPair pair;
    pair.hypothesis = name;
    pair.hypothesis_seconds = seconds_of(hypotheses[h]);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace diarist::output
