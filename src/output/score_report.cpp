#include "output/score_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "output/number_text.hpp"

namespace diarist::output {
namespace {

std::string per_cent(double part) {
  return std::isfinite(part) ? fmt::format("{:.2f}", 100 * part) : std::string("-");
}

std::string interval_text(const Interval& interval) {
  if (!std::isfinite(interval.low)) return "none (it takes two recordings)";
  return fmt::format("{} to {}{}", per_cent(interval.low), per_cent(interval.high),
                     interval.method == IntervalMethod::kBca ? "" : " (percentile)");
}

std::string drawn(const BootstrapOptions& options, int recordings) {
  return fmt::format("{} resamples of {} recordings, seed {}", options.resamples, recordings,
                     options.seed);
}

void add_comparison(const ScoreComparison& comparison, std::vector<std::string>& lines) {
  lines.push_back(fmt::format(
      "compared: DER {} % against {} %, difference {} points, {:g} % interval {}; {}",
      per_cent(comparison.first_der), per_cent(comparison.second_der),
      per_cent(comparison.difference.estimate), 100 * comparison.options.level,
      interval_text(comparison.difference), drawn(comparison.options, comparison.recordings)));
  lines.push_back(fmt::format(
      "better in {} recordings, worse in {}, equal in {}: sign test p = {:.3g}",
      comparison.first_better, comparison.second_better, comparison.equal, comparison.sign_p));
  lines.push_back(
      fmt::format("permutation test p = {:.3g} ({} {} assignments)", comparison.permutation_p,
                  comparison.every_permutation ? "all" : "sampled", comparison.permutations));
}

}  // namespace

ScoreLine score_header() {
  return {"file", "DER %", "JER %", "missed %", "false %", "confused %", "scored s", "speakers"};
}

ScoreLine score_line(const std::string& name, const Score& score) {
  const std::string speakers =
      fmt::format("{}/{}", score.reference_speakers, score.hypothesis_speakers);
  if (score.nothing_scored()) return {name, "-", "-", "-", "-", "-", "nothing", speakers};
  const auto part = [&](double seconds) {
    return score.total > 0 ? per_cent(seconds / score.total) : std::string("-");
  };
  return {name,
          per_cent(score.der()),
          per_cent(score.jer()),
          part(score.missed),
          part(score.false_alarm),
          part(score.confusion),
          three_decimals(score.total),
          speakers};
}

std::vector<std::string> score_remarks(const ScoreReport& report, const ScoringOptions& options) {
  const Score& total = report.total;
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "seconds: missed {}, false alarm {}, confused {}, correct {}; collar {} s on each side, "
      "overlap {}{}{}",
      three_decimals(total.missed), three_decimals(total.false_alarm),
      three_decimals(total.confusion), three_decimals(total.correct), json_number(options.collar),
      options.skip_overlap ? "left out" : "scored", options.uem ? ", inside the UEM" : "",
      options.md_eval ? ", rules of md-eval" : ""));
  const SpeakerCounts counts = speaker_counts(report);
  lines.push_back(fmt::format(
      "speakers (reference/hypothesis): number right in {} of {} {} ({} %), mean absolute error "
      "{:.2f}, mean error {:+.2f}",
      counts.exact, counts.recordings, counts.recordings == 1 ? "file" : "files",
      counts.recordings > 0 ? fmt::format("{:.1f}", 100 * counts.exact_share()) : "-",
      counts.mean_absolute_error, counts.mean_error));
  if (report.intervals) {
    const ScoreIntervals& intervals = *report.intervals;
    lines.push_back(fmt::format("{:g} % intervals: DER {}, JER {}; {}",
                                100 * intervals.options.level, interval_text(intervals.der),
                                interval_text(intervals.jer),
                                drawn(intervals.options, intervals.recordings)));
  }
  if (report.comparison) add_comparison(*report.comparison, lines);
  return lines;
}

}  // namespace diarist::output
