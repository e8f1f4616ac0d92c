#pragma once
// Numbers as text: correctly rounded, the same in every locale. (Ids: formats/escapes.hpp.)

#include <cstdint>
#include <string>
#include <string_view>

#include "diarist/result.hpp"
#include "output/formats/escapes.hpp"

namespace diarist::output {

/// Like C's "%.3f" in the C locale: correctly rounded from the exact value of the double.
/// The value must be finite.
std::string three_decimals(double value);

/// The same rounding as a count of thousandths.
std::int64_t rounded_milliseconds(double seconds);

/// Largest count of whole milliseconds that does not pass `seconds` (>= 0).
std::int64_t floored_milliseconds(double seconds);

/// Milliseconds as "12.345".
std::string milliseconds_text(std::int64_t milliseconds);

/// Milliseconds as "01:02:03<point>345", the clock of subtitles.
std::string subtitle_clock(std::int64_t milliseconds, char point);

/// Milliseconds as "1:02.345", or "1:01:02.345" from one hour on.
std::string clock_text(std::int64_t milliseconds);

/// Shortest text that reads back as the same double and is a JSON number ("12.0", "1e-07").
/// A value that is not finite has no such text and gives "null".
std::string json_number(double value);

/// A turn as the writers print it, in milliseconds.
struct PrintedTurn {
  std::int64_t start = 0;
  std::int64_t end = 0;       ///< of the writers that print an end (JSON, table)
  std::int64_t duration = 0;  ///< of RTTM: rounded from the f64 difference, not from the two above
};

/// Rounds one turn of a result (spec/pipeline.md sections 14 and 18). Unless the result is a
/// reference run, nothing printed passes the duration (where that is known). A turn that would have
/// no length is printed as one millisecond.
PrintedTurn printed_turn(const Diarization& result, const Turn& turn);

}  // namespace diarist::output
