#pragma once
// Stretches of time in f64 seconds, as scoring needs them.

#include <vector>

namespace diarist::output {

/// What is not longer than this counts as nothing: neither a turn nor a gap. Rounding noise of
/// start + duration must not make two touching turns overlap or lie apart.
inline constexpr double kResolution = 1e-6;

struct Span {
  double start = 0;
  double end = 0;
  bool empty() const noexcept { return !(end - start > kResolution); }
  double length() const noexcept { return empty() ? 0.0 : end - start; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// By start, then end.
inline bool operator<(const Span& a, const Span& b) noexcept {
  return a.start < b.start || (a.start == b.start && a.end < b.end);
}

inline Span intersection(const Span& a, const Span& b) noexcept {
  return {a.start > b.start ? a.start : b.start, a.end < b.end ? a.end : b.end};
}

/// Sorted disjoint spans that cover the same time; spans less than kResolution apart are joined,
/// empty ones dropped.
std::vector<Span> merged(std::vector<Span> spans);

/// What is left of `within` outside `removed` (as merged() gives it).
std::vector<Span> outside(const std::vector<Span>& removed, const Span& within);

/// Non-empty intersections of `span` with sorted disjoint spans, in order.
std::vector<Span> parts_inside(const Span& span, const std::vector<Span>& regions);

/// Seconds that spans (which may overlap) cover inside sorted disjoint regions.
double seconds_inside(const std::vector<Span>& spans, const std::vector<Span>& regions);

/// Sum of the lengths.
double total_seconds(const std::vector<Span>& spans);

}  // namespace diarist::output
