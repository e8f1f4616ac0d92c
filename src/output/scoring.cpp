// Error rates as pyannote.metrics computes them; docs/scoring.md has the formulas and sources.
#include "diarist/scoring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "output/assignment.hpp"
#include "output/scored_voices.hpp"

namespace diarist {
namespace {

using output::Side;
using output::Span;
using output::Voice;
using output::Voices;

// The pairing needs a table of speakers by speakers.
constexpr std::size_t kMostSpeakers = 4096;

// For each row the column it is paired with, -1 where they never talk together.
std::vector<int> mapping(const Voices& rows, const Voices& columns) {
  const std::vector<double> seconds = output::seconds_together(rows, columns);
  std::vector<int> pairs = output::best_pairs(seconds, static_cast<int>(rows.names.size()),
                                              static_cast<int>(columns.names.size()));
  for (std::size_t row = 0; row < pairs.size(); ++row) {
    if (pairs[row] < 0) continue;
    const std::size_t cell = row * columns.names.size() + static_cast<std::size_t>(pairs[row]);
    if (!(seconds[cell] > 0)) pairs[row] = -1;
  }
  return pairs;
}

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

void add_error_seconds(const Voices& reference, const Voices& hypothesis, Score& score) {
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
  const std::vector<int> reference_of = mapping(hypothesis, reference);
  Scene scene(reference.names.size(), reference_of);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i > 0) scene.add_seconds(Span{events[i - 1].time, events[i].time}.length(), score);
    scene.change(events[i].side, events[i].speaker, events[i].step);
  }
}

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
  return output::total_seconds(output::merged(turns)) -
         output::seconds_inside(turns, output::merged(others));
}

void add_jaccard_errors(const Voices& reference, const Voices& hypothesis, Score& score) {
  const std::vector<int> partner = mapping(reference, hypothesis);
  const std::vector<std::vector<Span>> references = turns_of(reference);
  const std::vector<std::vector<Span>> hypotheses = turns_of(hypothesis);
  for (std::size_t r = 0; r < reference.names.size(); ++r) {
    ++score.jer_speakers;
    if (partner[r] < 0) {
      score.jer_sum += 1;
      continue;
    }
    std::vector<Span> said = references[r];
    const std::vector<Span>& heard = hypotheses[static_cast<std::size_t>(partner[r])];
    const double apart = seconds_without(heard, said) + seconds_without(said, heard);
    said.insert(said.end(), heard.begin(), heard.end());
    score.jer_sum += apart / output::total_seconds(output::merged(std::move(said)));
  }
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

Score score_one(const std::string& uri, const std::vector<RttmTurn>& reference_turns,
                const std::vector<RttmTurn>& hypothesis_turns, const ScoringOptions& options,
                std::vector<std::string>* warnings) {
  if (!(options.collar >= 0) || !std::isfinite(options.collar)) {
    base::fail(ErrorCode::kInvalidArgument, "the collar is {} and must be a number of seconds >= 0",
               options.collar);
  }
  Voices reference = output::voices_of(reference_turns);
  const Voices hypothesis = output::voices_of(hypothesis_turns);
  for (const Voices* side : {static_cast<const Voices*>(&reference), &hypothesis}) {
    if (side->names.size() > kMostSpeakers) {
      base::fail(ErrorCode::kUnsupported,
                 "'{}' has {} speakers on one side and at most {} can be compared; check that the "
                 "eighth field of the RTTM lines is the speaker",
                 uri, side->names.size(), kMostSpeakers);
    }
  }
  const std::vector<std::string> twice = output::speakers_with_themselves(reference);
  output::merge_own_overlaps(reference);
  if (warnings != nullptr && !twice.empty()) {
    warnings->push_back(
        fmt::format("{}: overlapping turns of one speaker in the reference were merged: {}", uri,
                    joined(twice)));
  }
  const std::vector<std::string> heard_twice = output::speakers_with_themselves(hypothesis);
  if (warnings != nullptr && !heard_twice.empty()) {
    warnings->push_back(
        fmt::format("{}: overlapping turns of one speaker in the hypothesis count as false alarm "
                    "where they overlap: {}",
                    uri, joined(heard_twice)));
  }

  double end = 0;
  for (const Voices* side : {static_cast<const Voices*>(&reference), &hypothesis}) {
    for (const Voice& voice : side->voices) end = std::max(end, voice.span.end);
  }
  const std::vector<Span> regions = output::scored_regions(reference, end, options);
  const Voices said = output::cropped(reference, regions, Side::kReference);
  const Voices heard = output::cropped(hypothesis, regions, Side::kHypothesis);

  Score score;
  score.reference_speakers = static_cast<int>(reference.names.size());
  score.hypothesis_speakers = static_cast<int>(hypothesis.names.size());
  add_error_seconds(said, heard, score);
  add_jaccard_errors(said, heard, score);
  return score;
}

void add_to(Score& sum, const Score& score) {
  sum.total += score.total;
  sum.missed += score.missed;
  sum.false_alarm += score.false_alarm;
  sum.confusion += score.confusion;
  sum.correct += score.correct;
  sum.jer_sum += score.jer_sum;
  sum.jer_speakers += score.jer_speakers;
  sum.reference_speakers += score.reference_speakers;
  sum.hypothesis_speakers += score.hypothesis_speakers;
}

}  // namespace

double Score::der() const noexcept {
  const double wrong = missed + false_alarm + confusion;
  if (total > 0) return wrong / total;
  return wrong > 0 ? 1.0 : 0.0;
}

double Score::jer() const noexcept { return jer_speakers > 0 ? jer_sum / jer_speakers : 1.0; }

bool Score::nothing_scored() const noexcept { return total <= 0 && false_alarm <= 0; }

Score score_turns(const std::vector<RttmTurn>& reference, const std::vector<RttmTurn>& hypothesis,
                  const ScoringOptions& options) {
  return score_one("", reference, hypothesis, options, nullptr);
}

ScoreReport score_files(const RttmFile& reference, const RttmFile& hypothesis,
                        const ScoringOptions& options) {
  static const std::vector<RttmTurn> kSilence;
  ScoreReport report;
  const auto add = [&](const std::string& uri, const std::vector<RttmTurn>& said,
                       const std::vector<RttmTurn>& heard) {
    report.files.push_back({uri, score_one(uri, said, heard, options, &report.warnings)});
    add_to(report.total, report.files.back().score);
  };

  if (reference.empty()) {
    report.warnings.push_back(
        "the reference has no turns: everything in the hypothesis is false "
        "alarm");
    for (const auto& [uri, turns] : hypothesis) add(uri, kSilence, turns);
    return report;
  }
  if (reference.size() == 1 && hypothesis.size() == 1) {
    const auto& [uri, turns] = *reference.begin();
    const auto& [other, heard] = *hypothesis.begin();
    if (uri != other) {
      report.warnings.push_back(fmt::format(
          "the reference is of '{}' and the hypothesis of '{}': compared all the same, since there "
          "is one of each",
          uri, other));
    }
    add(uri, turns, heard);
    return report;
  }
  for (const auto& [uri, turns] : reference) {
    const auto found = hypothesis.find(uri);
    if (found == hypothesis.end()) {
      report.warnings.push_back(
          fmt::format("{}: not in the hypothesis, which counts as silence", uri));
    }
    add(uri, turns, found == hypothesis.end() ? kSilence : found->second);
  }
  for (const auto& [uri, turns] : hypothesis) {
    if (!reference.contains(uri)) {
      report.warnings.push_back(fmt::format("{}: not in the reference, left out", uri));
    }
  }
  return report;
}

}  // namespace diarist
