// The report of a comparison as JSON.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "diarist/scoring.hpp"
#include "output/json_text.hpp"
#include "output/number_text.hpp"

namespace diarist {
namespace {

using output::json_number;
using output::json_string;

constexpr int kSchemaVersion = 1;

std::string score_fields(const Score& score) {
  return fmt::format(
      R"("der": {}, "jer": {}, "missed": {}, "false_alarm": {}, "confusion": {}, )"
      R"("correct": {}, "total": {}, "reference_speakers": {}, "hypothesis_speakers": {}, )"
      R"("scored_speakers": {}, "nothing_scored": {})",
      json_number(score.der()), json_number(score.jer()), json_number(score.missed),
      json_number(score.false_alarm), json_number(score.confusion), json_number(score.correct),
      json_number(score.total), score.reference_speakers, score.hypothesis_speakers,
      score.jer_speakers, score.nothing_scored());
}

std::string name_json(const std::optional<std::string>& name) {
  return name ? json_string(*name) : std::string("null");
}

std::string mapping_json(const std::vector<SpeakerPair>& mapping) {
  std::vector<std::string> pairs;
  for (const SpeakerPair& pair : mapping) {
    pairs.push_back(fmt::format(
        R"({{"reference": {}, "hypothesis": {}, "seconds": {}, "reference_seconds": {}, )"
        R"("hypothesis_seconds": {}}})",
        name_json(pair.reference), name_json(pair.hypothesis), json_number(pair.seconds),
        json_number(pair.reference_seconds), json_number(pair.hypothesis_seconds)));
  }
  return fmt::format("[{}]", fmt::join(pairs, ", "));
}

std::string strings_json(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(json_string(text));
  return output::json_list(items, 2);
}

std::string speaker_count_json(const SpeakerCounts& counts) {
  return fmt::format(
      R"({{"recordings": {}, "exact": {}, "exact_share": {}, "mean_absolute_error": {}, )"
      R"("mean_error": {}}})",
      counts.recordings, counts.exact,
      counts.recordings > 0 ? json_number(counts.exact_share()) : "null",
      json_number(counts.mean_absolute_error), json_number(counts.mean_error));
}

std::string interval_json(const Interval& interval) {
  return fmt::format(
      R"({{"estimate": {}, "low": {}, "high": {}, "standard_error": {}, "method": "{}"}})",
      json_number(interval.estimate), json_number(interval.low), json_number(interval.high),
      json_number(interval.standard_error),
      interval.method == IntervalMethod::kBca ? "bca" : "percentile");
}

std::string draw_fields(const BootstrapOptions& options, int recordings) {
  return fmt::format(R"("resamples": {}, "seed": {}, "level": {}, "recordings": {})",
                     options.resamples, options.seed, json_number(options.level), recordings);
}

std::string intervals_json(const std::optional<ScoreIntervals>& intervals) {
  if (!intervals) return "null";
  return fmt::format(R"({{{}, "der": {}, "jer": {}}})",
                     draw_fields(intervals->options, intervals->recordings),
                     interval_json(intervals->der), interval_json(intervals->jer));
}

std::string comparison_json(const std::optional<ScoreComparison>& comparison) {
  if (!comparison) return "null";
  return fmt::format(
      R"({{{}, "first_der": {}, "second_der": {}, "difference": {}, "first_better": {}, )"
      R"("second_better": {}, "equal": {}, "sign_p": {}, "permutation_p": {}, )"
      R"("permutations": {}, "every_permutation": {}}})",
      draw_fields(comparison->options, comparison->recordings), json_number(comparison->first_der),
      json_number(comparison->second_der), interval_json(comparison->difference),
      comparison->first_better, comparison->second_better, comparison->equal,
      json_number(comparison->sign_p), json_number(comparison->permutation_p),
      comparison->permutations, comparison->every_permutation);
}

}  // namespace

std::string to_json(const ScoreReport& report, const ScoringOptions& options) {
  std::vector<std::string> files;
  for (const FileScore& file : report.files) {
    files.push_back(fmt::format(R"({{"uri": {}, {}, "mapping": {}}})", json_string(file.uri),
                                score_fields(file.score), mapping_json(file.mapping)));
  }
  return fmt::format(R"({{
  "format": "diarist.score",
  "version": {},
  "engine": "{}",
  "collar": {},
  "skip_overlap": {},
  "md_eval": {},
  "uem": {},
  "files": {},
  "total": {{{}}},
  "speaker_count": {},
  "intervals": {},
  "comparison": {},
  "missing": {},
  "extra": {},
  "outside_uem": {},
  "warnings": {}
}}
)",
                     kSchemaVersion, DIARIST_VERSION, json_number(options.collar),
                     options.skip_overlap, options.md_eval, options.uem.has_value(),
                     output::json_list(files, 2), score_fields(report.total),
                     speaker_count_json(speaker_counts(report)), intervals_json(report.intervals),
                     comparison_json(report.comparison), strings_json(report.missing),
                     strings_json(report.extra), strings_json(report.outside_uem),
                     strings_json(report.warnings));
}

}  // namespace diarist
