#include "output/spans.hpp"

#include <algorithm>

namespace diarist::output {

std::vector<Span> merged(std::vector<Span> spans) {
  std::erase_if(spans, [](const Span& span) { return span.empty(); });
  std::sort(spans.begin(), spans.end());
  std::vector<Span> result;
  for (const Span& span : spans) {
    if (result.empty() || !Span{result.back().end, span.start}.empty()) {
      result.push_back(span);
    } else {
      result.back().end = std::max(result.back().end, span.end);
    }
  }
  return result;
}

std::vector<Span> outside(const std::vector<Span>& removed, const Span& within) {
  std::vector<Span> result;
  double end = within.start;
  // The parts are joined again: two that the border of `within` cut close together count as one.
  for (const Span& part : merged(parts_inside(within, removed))) {
    const Span gap{end, part.start};
    if (!gap.empty()) result.push_back(gap);
    end = part.end;
  }
  const Span rest{end, within.end};
  if (!rest.empty()) result.push_back(rest);
  return result;
}

std::vector<Span> parts_inside(const Span& span, const std::vector<Span>& regions) {
  std::vector<Span> parts;
  auto region = std::partition_point(regions.begin(), regions.end(),
                                     [&](const Span& r) { return r.end <= span.start; });
  for (; region != regions.end() && region->start < span.end; ++region) {
    const Span part = intersection(span, *region);
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

double seconds_inside(const std::vector<Span>& spans, const std::vector<Span>& regions) {
  std::vector<Span> parts;
  for (const Span& span : spans) {
    const std::vector<Span> inside = parts_inside(span, regions);
    parts.insert(parts.end(), inside.begin(), inside.end());
  }
  return total_seconds(merged(std::move(parts)));
}

double total_seconds(const std::vector<Span>& spans) {
  double sum = 0;
  for (const Span& span : spans) sum += span.length();
  return sum;
}

}  // namespace diarist::output
