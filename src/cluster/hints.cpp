#include "cluster/hints.hpp"

#include <string>

#include "base/error.hpp"

namespace diarist::cluster {
namespace {

int given(const std::optional<int>& hint) { return hint.value_or(0); }

void check_one(const char* name, const std::optional<int>& hint, bool reference) {
  if (hint && (*hint < 0 || (*hint == 0 && !reference)))
    base::fail(ErrorCode::kInvalidArgument,
               "{} speakers: {} asked for; give 1 or more, or leave it out", name, *hint);
}

}  // namespace

void check_hints(const SpeakerHints& hints, bool reference) {
  check_one("number of", hints.num, reference);
  check_one("minimum of", hints.min, reference);
  check_one("maximum of", hints.max, reference);
  const int num = given(hints.num), min = given(hints.min), max = given(hints.max);
  if (num > 0 && reference) return;  // it wins silently
  if (num > 0 && ((min > 0 && num < min) || (max > 0 && num > max)))
    base::fail(ErrorCode::kInvalidArgument,
               "{} speakers asked for, but between {} and {} allowed; give the number alone", num,
               min > 0 ? min : 1, max > 0 ? std::to_string(max) : "any number");
  if (min > 0 && max > 0 && min > max)
    base::fail(ErrorCode::kInvalidArgument,
               "at least {} and at most {} speakers contradict each other", min, max);
}

CountRange range_of(const SpeakerHints& hints) {
  const int num = given(hints.num), min = given(hints.min), max = given(hints.max);
  CountRange range;
  if (num > 0)
    range.low = range.high = num;
  else {
    if (min > 0) range.low = min;
    if (max > 0) range.high = max;
  }
  if (range.low == range.high) range.num = range.low;
  return range;
}

std::optional<std::string> unmet_minimum(const SpeakerHints& hints, int speakers) {
  const int low = range_of(hints).low;
  if (low < 2 || speakers >= low) return std::nullopt;
  return fmt::format("at least {} speakers asked for, {} found", low, speakers);
}

}  // namespace diarist::cluster
