#pragma once
/// \file
/// How sure a score is: bootstrap over recordings, and tests of one system against another.
/// docs/scoring.md has the formulas and the generator, so that anybody can repeat the numbers.

#include <cstdint>

#include "diarist/export.hpp"

namespace diarist {

struct ScoreReport;

/// How an interval is read off the resampled scores.
enum class IntervalMethod {
  kBca,        ///< bias-corrected and accelerated (Efron 1987)
  kPercentile  ///< the quantiles of the resampled scores themselves
};

/// How recordings are resampled.
struct BootstrapOptions {
  int resamples = 10000;   ///< 1 to 10,000,000
  std::uint64_t seed = 1;  ///< same seed, same numbers, on every machine
  double level = 0.95;     ///< share of the interval, between 0 and 1
  IntervalMethod method = IntervalMethod::kBca;
};

/// A score and how far it would move with other recordings of the same kind.
struct Interval {
  double estimate = 0;
  double low = 0;  ///< not a number with fewer than two recordings: there is nothing to draw from
  double high = 0;
  double standard_error = 0;  ///< standard deviation of the resampled scores
  /// What was computed: a resampled distribution that lies on one side of the estimate has no BCa
  /// interval and gets the percentile one.
  IntervalMethod method = IntervalMethod::kBca;
};

/// What bootstrap_scores() found.
struct ScoreIntervals {
  BootstrapOptions options;
  int recordings = 0;
  Interval der;
  Interval jer;
};

/// Two systems on the same recordings: which one is better, and could that be luck?
struct ScoreComparison {
  BootstrapOptions options;
  int recordings = 0;
  double first_der = 0;
  double second_der = 0;
  /// DER of the first minus DER of the second, recordings drawn in pairs: below 0 the first system
  /// is better.
  Interval difference;
  int first_better = 0;  ///< recordings with fewer wrong seconds
  int second_better = 0;
  int equal = 0;
  /// Two-sided sign test over the recordings that are not equal; 1 without any.
  double sign_p = 1;
  /// Two-sided permutation test: how often the difference is at least as large when the two
  /// systems are swapped in recordings at random.
  double permutation_p = 1;
  std::uint64_t permutations = 1;  ///< assignments that were looked at
  bool every_permutation = true;   ///< all there are (up to 20 unequal recordings), or a sample
};

/// Confidence intervals of DER and JER over the recordings of a report.
/// \throws Error kInvalidArgument for options out of range.
DIARIST_API ScoreIntervals bootstrap_scores(const ScoreReport& report,
                                            const BootstrapOptions& options = {});

/// Compares two reports on the same reference. A recording that only one of them has counts as
/// nothing in the other.
/// \throws Error kInvalidArgument for options out of range.
DIARIST_API ScoreComparison compare_scores(const ScoreReport& first, const ScoreReport& second,
                                           const BootstrapOptions& options = {});

}  // namespace diarist
