#pragma once
// Distribution functions and quantiles.

#include <vector>

namespace diarist::output {

/// Distribution function of the standard normal distribution.
double normal_cdf(double x) noexcept;

/// Its inverse; infinite for 0 and 1.
double normal_quantile(double p) noexcept;

/// Quantile of sorted values, linear between neighbours: NumPy's default, type 7 of Hyndman and
/// Fan. `sorted` must not be empty; 0 <= p <= 1.
double quantile(const std::vector<double>& sorted, double p) noexcept;

/// Two-sided sign test: probability that of a + b fair coins the rarer side comes up at most
/// min(a, b) times, twice, at most 1.
double sign_test(int a, int b) noexcept;

}  // namespace diarist::output
