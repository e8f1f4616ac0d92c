// Bootstrap over recordings, sign and permutation tests. docs/scoring.md tells how to repeat them.
#include "diarist/score_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "diarist/scoring.hpp"
#include "output/distributions.hpp"
#include "output/random_draws.hpp"

namespace diarist {
namespace {

constexpr int kMostResamples = 10'000'000;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
// Up to here all 2^n swaps are looked at.
constexpr std::size_t kMostEnumerated = 20;

// What a recording adds: numerator and denominator of one or two rates.
using Parts = std::array<double, 4>;
using Statistic = double (*)(const Parts& sums);

Parts& operator+=(Parts& sum, const Parts& parts) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += parts[i];
  return sum;
}

// As Score::der() and Score::jer().
double der_of(double wrong, double total) {
  if (total > 0) return wrong / total;
  return wrong > 0 ? 1.0 : 0.0;
}
double der(const Parts& sums) { return der_of(sums[0], sums[1]); }
double jer(const Parts& sums) { return sums[3] > 0 ? sums[2] / sums[3] : 1.0; }
double der_difference(const Parts& sums) {
  return der_of(sums[0], sums[1]) - der_of(sums[2], sums[3]);
}

Parts sum_of(const std::vector<Parts>& recordings) {
  Parts sum{};
  for (const Parts& parts : recordings) sum += parts;
  return sum;
}

void check(const BootstrapOptions& options) {
  if (options.resamples < 1 || options.resamples > kMostResamples) {
    base::fail(ErrorCode::kInvalidArgument,
               "the number of resamples is {} and must lie between 1 and {}", options.resamples,
               kMostResamples);
  }
  if (!(options.level > 0 && options.level < 1)) {
    base::fail(ErrorCode::kInvalidArgument,
               "the confidence level is {} and must lie between 0 and 1, e.g. 0.95", options.level);
  }
}

// Sums over each resample: as many recordings as there are, drawn with replacement.
std::vector<Parts> resampled_sums(const std::vector<Parts>& recordings,
                                  const BootstrapOptions& options) {
  output::RandomDraws random(options.seed);
  std::vector<Parts> sums(static_cast<std::size_t>(options.resamples));
  for (Parts& sum : sums) {
    for (std::size_t i = 0; i < recordings.size(); ++i) {
      sum += recordings[random.below(recordings.size())];
    }
  }
  return sums;
}

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1));
}

// Acceleration from the scores with one recording left out (Efron and Tibshirani 1993, 14.15).
double acceleration(const std::vector<Parts>& recordings, Statistic statistic) {
  const std::size_t count = recordings.size();
  // Sums of what comes before and after: subtracting one recording from the total would leave
  // rounding noise where nothing is left.
  std::vector<Parts> after(count + 1, Parts{});
  for (std::size_t i = count; i-- > 0;) {
    after[i] = after[i + 1];
    after[i] += recordings[i];
  }
  std::vector<double> scores;
  double mean = 0;
  Parts before{};
  for (std::size_t out = 0; out < count; ++out) {
    Parts rest = before;
    rest += after[out + 1];
    scores.push_back(statistic(rest));
    mean += scores.back() / static_cast<double>(count);
    before += recordings[out];
  }
  double squares = 0;
  double cubes = 0;
  for (const double score : scores) {
    squares += (mean - score) * (mean - score);
    cubes += (mean - score) * (mean - score) * (mean - score);
  }
  return cubes / (6 * std::pow(squares, 1.5));
}

Interval interval_of(const std::vector<Parts>& recordings, const std::vector<Parts>& sums,
                     Statistic statistic, const BootstrapOptions& options) {
  Interval interval{statistic(sum_of(recordings)), kNone, kNone, 0, options.method};
  if (recordings.size() < 2) return interval;
  std::vector<double> scores;
  scores.reserve(sums.size());
  for (const Parts& sum : sums) scores.push_back(statistic(sum));
  std::sort(scores.begin(), scores.end());
  interval.standard_error = standard_deviation(scores);

  double low = (1 - options.level) / 2;
  double high = 1 - low;
  if (options.method == IntervalMethod::kBca) {
    // A resample of every recording in another order has the same score, up to rounding.
    const double noise = 1e-12 * std::max(1.0, std::abs(interval.estimate));
    const auto first = std::lower_bound(scores.begin(), scores.end(), interval.estimate - noise);
    const auto last = std::upper_bound(first, scores.end(), interval.estimate + noise);
    const auto below = static_cast<double>(first - scores.begin());
    const auto up_to = static_cast<double>(last - scores.begin());
    const double bias =
        output::normal_quantile((below + up_to) / (2 * static_cast<double>(scores.size())));
    const double a = acceleration(recordings, statistic);
    const auto moved = [&](double p) {
      const double z = bias + output::normal_quantile(p);
      return output::normal_cdf(bias + z / (1 - a * z));
    };
    const double moved_low = moved(low);
    const double moved_high = moved(high);
    if (std::isfinite(bias) && std::isfinite(moved_low) && std::isfinite(moved_high)) {
      low = moved_low;
      high = moved_high;
    } else {
      interval.method = IntervalMethod::kPercentile;
    }
  }
  interval.low = output::quantile(scores, low);
  interval.high = output::quantile(scores, high);
  return interval;
}

// All sums of the values with signs + and -.
std::vector<double> signed_sums(const double* values, std::size_t count) {
  std::vector<double> sums = {0.0};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t known = sums.size();
    for (std::size_t s = 0; s < known; ++s) {
      sums.push_back(sums[s] - values[i]);
      sums[s] += values[i];
    }
  }
  return sums;
}

// Wrong seconds of the first system minus those of the second, per recording where they differ.
void permutation_test(const std::vector<double>& differences, ScoreComparison& result) {
  double observed = 0;
  double scale = 0;
  for (const double difference : differences) {
    observed += difference;
    scale += std::abs(difference);
  }
  // Sums of the same values in another order must count as equal.
  const double at_least = std::abs(observed) - 1e-12 * scale;
  std::uint64_t extreme = 0;
  if (differences.size() <= kMostEnumerated) {
    const std::size_t half = differences.size() / 2;
    const std::vector<double> left = signed_sums(differences.data(), half);
    const std::vector<double> right =
        signed_sums(differences.data() + half, differences.size() - half);
    for (const double a : left) {
      for (const double b : right) extreme += std::abs(a + b) >= at_least ? 1U : 0U;
    }
    result.every_permutation = true;
    result.permutations = static_cast<std::uint64_t>(left.size()) * right.size();
    result.permutation_p = static_cast<double>(extreme) / static_cast<double>(result.permutations);
    return;
  }
  output::RandomDraws random(result.options.seed + 1);
  for (int round = 0; round < result.options.resamples; ++round) {
    double sum = 0;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      if (i % 64 == 0) bits = random.bits();
      sum += ((bits >> (i % 64)) & 1U) != 0 ? -differences[i] : differences[i];
    }
    extreme += std::abs(sum) >= at_least ? 1U : 0U;
  }
  // The observed assignment is one of the possible ones: the sample never says p = 0.
  result.every_permutation = false;
  result.permutations = static_cast<std::uint64_t>(result.options.resamples);
  result.permutation_p = (static_cast<double>(extreme) + 1) / (result.options.resamples + 1.0);
}

}  // namespace

ScoreIntervals bootstrap_scores(const ScoreReport& report, const BootstrapOptions& options) {
  check(options);
  std::vector<Parts> recordings;
  for (const FileScore& file : report.files) {
    recordings.push_back({file.score.wrong(), file.score.total, file.score.jer_sum,
                          static_cast<double>(file.score.jer_speakers)});
  }
  const std::vector<Parts> sums =
      recordings.size() < 2 ? std::vector<Parts>{} : resampled_sums(recordings, options);
  return {options, static_cast<int>(recordings.size()), interval_of(recordings, sums, der, options),
          interval_of(recordings, sums, jer, options)};
}

ScoreComparison compare_scores(const ScoreReport& first, const ScoreReport& second,
                               const BootstrapOptions& options) {
  check(options);
  std::map<std::string, Parts> by_uri;
  for (const FileScore& file : first.files) {
    by_uri[file.uri] += Parts{file.score.wrong(), file.score.total, 0, 0};
  }
  for (const FileScore& file : second.files) {
    by_uri[file.uri] += Parts{0, 0, file.score.wrong(), file.score.total};
  }
  ScoreComparison result;
  result.options = options;
  result.recordings = static_cast<int>(by_uri.size());
  result.first_der = first.total.der();
  result.second_der = second.total.der();

  std::vector<Parts> recordings;
  std::vector<double> differences;
  for (const auto& [uri, parts] : by_uri) {
    recordings.push_back(parts);
    const double difference = parts[0] - parts[2];
    // A nanosecond is noise of the sums.
    if (std::abs(difference) <= 1e-9) {
      ++result.equal;
      continue;
    }
    ++(difference < 0 ? result.first_better : result.second_better);
    differences.push_back(difference);
  }
  const std::vector<Parts> sums =
      recordings.size() < 2 ? std::vector<Parts>{} : resampled_sums(recordings, options);
  result.difference = interval_of(recordings, sums, der_difference, options);
  result.sign_p = output::sign_test(result.first_better, result.second_better);
  permutation_test(differences, result);
  return result;
}

}  // namespace diarist
