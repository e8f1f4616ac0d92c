#include "output/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace diarist::output {

double normal_cdf(double x) noexcept { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double normal_quantile(double p) noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(p > 0)) return -kInfinity;
  if (!(p < 1)) return kInfinity;
  // The lower half carries full precision: 1 - p is exact for p >= 0.5.
  if (p > 0.5) return -normal_quantile(1 - p);
  // Bisection until neighbouring doubles: a few are needed per report, and nothing can go wrong.
  double low = -40;
  double high = 0;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (normal_cdf(middle) < p ? low : high) = middle;
  }
}

double quantile(const std::vector<double>& sorted, double p) noexcept {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - std::floor(place));
}

double sign_test(int a, int b) noexcept {
  const int coins = a + b;
  const int rarer = std::min(a, b);
  // log C(coins, k) grows by log((coins - k) / (k + 1)): no number leaves the range.
  double log_ways = -coins * std::numbers::ln2;
  double tail = 0;
  for (int k = 0; k <= rarer; ++k) {
    tail += std::exp(log_ways);
    log_ways += std::log(static_cast<double>(coins - k) / (k + 1));
  }
  return std::min(1.0, 2 * tail);
}

}  // namespace diarist::output
