#include "suggestions.hpp"

#include <algorithm>

namespace diarist::cli {

// Optimal string alignment, row by row.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongest = 100;  // nobody mistypes more
  if (word.empty() || word.size() > kLongest) return std::nullopt;
  const int most = word.size() <= 3 ? 1 : std::max(2, static_cast<int>(word.size()) / 3);
  std::optional<std::string> best;
  int fewest = most + 1;
  for (const std::string& candidate : candidates) {
    const int edits = edit_distance(word, candidate);
    if (edits >= fewest) continue;
    fewest = edits;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::optional<std::string> found = nearest(word, candidates);
  return found ? " (did you mean " + *found + "?)" : std::string();
}

}  // namespace diarist::cli
