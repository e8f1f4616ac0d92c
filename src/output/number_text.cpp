#include "output/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace diarist::output {

std::string three_decimals(double value) {
  // The largest double has 309 digits before the point.
  std::array<char, 330> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::fixed, 3);
  return error == std::errc() ? std::string(buffer.data(), end) : "0.000";
}

std::int64_t rounded_milliseconds(double seconds) {
  std::string digits = three_decimals(seconds);
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  std::int64_t count = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (result.ec == std::errc()) return count;
  return seconds < 0 ? std::numeric_limits<std::int64_t>::min()
                     : std::numeric_limits<std::int64_t>::max();
}

std::int64_t floored_milliseconds(double seconds) {
  const std::int64_t rounded = rounded_milliseconds(seconds);
  return static_cast<double>(rounded) / 1000.0 > seconds ? rounded - 1 : rounded;
}

std::string milliseconds_text(std::int64_t milliseconds) {
  const char* sign = milliseconds < 0 ? "-" : "";
  const std::int64_t size = milliseconds < 0 ? -milliseconds : milliseconds;
  return fmt::format("{}{}.{:03}", sign, size / 1000, size % 1000);
}

std::string clock_text(std::int64_t milliseconds) {
  const std::int64_t seconds = milliseconds / 1000;
  const std::int64_t minutes = seconds / 60;
  if (minutes < 60)
    return fmt::format("{}:{:02}.{:03}", minutes, seconds % 60, milliseconds % 1000);
  return fmt::format("{}:{:02}:{:02}.{:03}", minutes / 60, minutes % 60, seconds % 60,
                     milliseconds % 1000);
}

std::string subtitle_clock(std::int64_t milliseconds, char point) {
  const std::int64_t seconds = milliseconds / 1000;
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", seconds / 3600, seconds / 60 % 60, seconds % 60,
                     point, milliseconds % 1000);
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 40> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), error == std::errc() ? end : buffer.data());
  // A whole number keeps a point, so readers that tell integers apart see one type.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

PrintedTurn printed_turn(const Diarization& result, const Turn& turn) {
  PrintedTurn printed{rounded_milliseconds(turn.start), rounded_milliseconds(turn.end),
                      rounded_milliseconds(turn.end - turn.start)};
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  if (!result.settings.reference && result.duration > 0) {
    // Less than a millisecond is shorter than anything three decimals can tell.
    const std::int64_t whole = floored_milliseconds(result.duration);
    if (whole >= 1) limit = whole;
  }
  printed.end = std::min(printed.end, limit);
  printed.duration = std::min(printed.duration, limit - printed.start);
  if (printed.end <= printed.start || printed.duration < 1) {
    printed.start = std::min(printed.start, limit - 1);
    printed.end = printed.start + 1;
    printed.duration = 1;
  }
  return printed;
}

}  // namespace diarist::output
