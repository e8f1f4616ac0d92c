// Error rates as pyannote.metrics computes them; docs/scoring.md has the formulas and sources.
#include "diarist/scoring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/error.hpp"
#include "output/score_parts.hpp"
#include "output/scored_voices.hpp"

namespace diarist {
namespace {

using output::Side;
using output::Span;
using output::Voice;
using output::Voices;

// The pairing needs a table of speakers by speakers.
constexpr std::size_t kMostSpeakers = 4096;

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

void check(const std::string& uri, const Voices& side) {
  if (side.names.size() <= kMostSpeakers) return;
  base::fail(ErrorCode::kUnsupported,
             "'{}' has {} speakers on one side and at most {} can be compared; check that the "
             "eighth field of the RTTM lines is the speaker",
             uri, side.names.size(), kMostSpeakers);
}

// What an evaluation looks at before collar and overlaps are cut away.
std::vector<Span> evaluated_regions(const Voices& reference, const Voices& hypothesis,
                                    const std::vector<Region>* regions, bool md_eval) {
  if (regions != nullptr) {
    std::vector<Span> spans;
    for (const Region& region : *regions) spans.push_back({region.start, region.end});
    return output::merged(std::move(spans));
  }
  Span everything;
  for (const Voices* side : {&reference, &hypothesis}) {
    for (const Voice& voice : side->voices) {
      everything.end = std::max(everything.end, voice.span.end);
    }
    if (md_eval && side == &reference && !reference.voices.empty()) {
      everything.start = reference.voices.front().span.start;
      break;
    }
  }
  return everything.empty() ? std::vector<Span>{} : std::vector<Span>{everything};
}

// Scores one recording; `warnings` may be null, `regions` is null without a UEM.
FileScore score_one(const std::string& uri, const std::vector<RttmTurn>& reference_turns,
                    const std::vector<RttmTurn>& hypothesis_turns,
                    const std::vector<Region>* regions, const ScoringOptions& options,
                    std::vector<std::string>* warnings) {
  if (!(options.collar >= 0) || !std::isfinite(options.collar)) {
    base::fail(ErrorCode::kInvalidArgument, "the collar is {} and must be a number of seconds >= 0",
               options.collar);
  }
  Voices reference = output::voices_of(reference_turns);
  Voices hypothesis = output::voices_of(hypothesis_turns);
  check(uri, reference);
  check(uri, hypothesis);
  const std::vector<std::string> twice = output::speakers_with_themselves(reference);
  output::merge_own_overlaps(reference);
  if (warnings != nullptr && !twice.empty()) {
    warnings->push_back(
        fmt::format("{}: overlapping turns of one speaker in the reference were merged: {}", uri,
                    joined(twice)));
  }
  const std::vector<std::string> heard_twice = output::speakers_with_themselves(hypothesis);
  if (options.md_eval) output::merge_own_overlaps(hypothesis);
  if (warnings != nullptr && !heard_twice.empty()) {
    warnings->push_back(
        fmt::format("{}: overlapping turns of one speaker in the hypothesis {}: {}", uri,
                    options.md_eval ? "were merged" : "count as false alarm where they overlap",
                    joined(heard_twice)));
  }

  const std::vector<Span> evaluated =
      evaluated_regions(reference, hypothesis, regions, options.md_eval);
  const std::vector<Span> scored = output::scored_regions(reference, evaluated, options);
  const Voices said = output::cropped(reference, scored, Side::kReference);
  const Voices heard = output::cropped(hypothesis, scored, Side::kHypothesis);
  std::vector<int> reference_of;
  if (options.md_eval) {
    const Voices all_said = output::cropped(reference, evaluated, Side::kReference);
    const Voices all_heard = output::cropped(hypothesis, evaluated, Side::kHypothesis);
    reference_of = output::paired_by_name(output::paired(all_heard, all_said), all_heard, all_said,
                                          heard, said);
  } else {
    reference_of = output::paired(heard, said);
  }

  FileScore file{uri, {}, output::speaker_pairs(said, heard, reference_of)};
  file.score.reference_speakers = output::speakers_inside(reference, evaluated);
  file.score.hypothesis_speakers = output::speakers_inside(hypothesis, evaluated);
  output::add_error_seconds(said, heard, reference_of, file.score);
  output::add_jaccard_errors(said, heard, output::paired(said, heard), file.score);
  return file;
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

// Compares two sets of recordings.
class Comparison {
 public:
  Comparison(const RttmFile& reference, const RttmFile& hypothesis, const ScoringOptions& options)
      : reference_(reference), hypothesis_(hypothesis), options_(options) {}

  ScoreReport run() && {
    if (reference_.size() == 1 && hypothesis_.size() == 1 &&
        reference_.begin()->first != hypothesis_.begin()->first) {
      add_pair_of_other_names();
    } else if (reference_.empty()) {
      warn("the reference has no turns: everything in the hypothesis is false alarm");
      for (const auto& [uri, heard] : hypothesis_) add(uri, kSilence, heard);
    } else {
      add_by_name();
    }
    if (options_.uem) tell_about_uem();
    std::sort(report_.files.begin(), report_.files.end(),
              [](const FileScore& a, const FileScore& b) { return a.uri < b.uri; });
    for (const FileScore& file : report_.files) add_to(report_.total, file.score);
    return std::move(report_);
  }

 private:
  void warn(std::string text) { report_.warnings.push_back(std::move(text)); }

  bool in_uem(const std::string& uri) const { return !options_.uem || options_.uem->contains(uri); }

  void leave_out(const std::string& uri) {
    warn(fmt::format("{}: not in the UEM, left out", uri));
    (reference_.contains(uri) ? report_.outside_uem : report_.extra).push_back(uri);
  }

  // Scores a recording if the UEM has it, under `uem_uri` where that is another name.
  void add(const std::string& uri, const std::vector<RttmTurn>& said,
           const std::vector<RttmTurn>& heard, const std::string& uem_uri) {
    if (!in_uem(uem_uri)) {
      leave_out(uri);
      return;
    }
    const std::vector<Region>* regions = options_.uem ? &options_.uem->at(uem_uri) : nullptr;
    report_.files.push_back(score_one(uri, said, heard, regions, options_, &report_.warnings));
  }
  void add(const std::string& uri, const std::vector<RttmTurn>& said,
           const std::vector<RttmTurn>& heard) {
    add(uri, said, heard, uri);
  }

  void add_pair_of_other_names() {
    const auto& [uri, said] = *reference_.begin();
    const auto& [other, heard] = *hypothesis_.begin();
    warn(
        fmt::format("the reference is of '{}' and the hypothesis of '{}': compared all the same, "
                    "since there is one of each",
                    uri, other));
    add(uri, said, heard, in_uem(uri) ? uri : other);
  }

  void add_by_name() {
    for (const auto& [uri, said] : reference_) {
      if (!in_uem(uri)) {
        leave_out(uri);
        continue;
      }
      const auto found = hypothesis_.find(uri);
      if (found == hypothesis_.end()) {
        warn(fmt::format("{}: not in the hypothesis, which counts as silence", uri));
        report_.missing.push_back(uri);
      }
      add(uri, said, found == hypothesis_.end() ? kSilence : found->second);
    }
    for (const auto& [uri, heard] : hypothesis_) {
      if (reference_.contains(uri)) continue;
      if (options_.uem && in_uem(uri)) {
        warn(fmt::format("{}: in the UEM but not in the reference, which counts as silence", uri));
        add(uri, kSilence, heard);
      } else {
        warn(fmt::format("{}: not in the reference, left out", uri));
        report_.extra.push_back(uri);
      }
    }
  }

  void tell_about_uem() {
    std::size_t unknown = 0;
    for (const auto& [uri, regions] : *options_.uem) {
      if (!reference_.contains(uri) && !hypothesis_.contains(uri)) ++unknown;
    }
    if (unknown > 0) {
      warn(fmt::format("{} of the {} recordings of the UEM are in neither file, left out", unknown,
                       options_.uem->size()));
    }
  }

  static inline const std::vector<RttmTurn> kSilence;
  const RttmFile& reference_;
  const RttmFile& hypothesis_;
  const ScoringOptions& options_;
  ScoreReport report_;
};

}  // namespace

double Score::wrong() const noexcept { return missed + false_alarm + confusion; }

double Score::der() const noexcept {
  if (total > 0) return wrong() / total;
  return wrong() > 0 ? 1.0 : 0.0;
}

double Score::jer() const noexcept { return jer_speakers > 0 ? jer_sum / jer_speakers : 1.0; }

bool Score::nothing_scored() const noexcept { return total <= 0 && false_alarm <= 0; }

double SpeakerCounts::exact_share() const noexcept {
  return recordings > 0 ? static_cast<double>(exact) / recordings : 0.0;
}

SpeakerCounts speaker_counts(const ScoreReport& report) noexcept {
  SpeakerCounts counts;
  double sum = 0;
  double absolute = 0;
  for (const FileScore& file : report.files) {
    const int error = file.score.hypothesis_speakers - file.score.reference_speakers;
    ++counts.recordings;
    counts.exact += error == 0 ? 1 : 0;
    sum += error;
    absolute += std::abs(error);
  }
  if (counts.recordings > 0) {
    counts.mean_error = sum / counts.recordings;
    counts.mean_absolute_error = absolute / counts.recordings;
  }
  return counts;
}

Score score_turns(const std::vector<RttmTurn>& reference, const std::vector<RttmTurn>& hypothesis,
                  const ScoringOptions& options) {
  return score_one("", reference, hypothesis, nullptr, options, nullptr).score;
}

Score score_turns(const std::vector<RttmTurn>& reference, const std::vector<RttmTurn>& hypothesis,
                  const std::vector<Region>& regions, const ScoringOptions& options) {
  return score_one("", reference, hypothesis, &regions, options, nullptr).score;
}

ScoreReport score_files(const RttmFile& reference, const RttmFile& hypothesis,
                        const ScoringOptions& options) {
  return Comparison(reference, hypothesis, options).run();
}

}  // namespace diarist
