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
  if (result.settings.reference || !(result.duration > 0)) return printed;
  const std::int64_t limit = floored_milliseconds(result.duration);
  if (limit < 1) return printed;  // shorter than anything three decimals can tell
  printed.end = std::min(printed.end, limit);
  printed.duration = std::min(printed.duration, limit - printed.start);
  if (printed.end <= printed.start || printed.duration < 1) {
    printed.start = std::min(printed.start, limit - 1);
    printed.end = printed.start + 1;
    printed.duration = 1;
  }
  return printed;
}

namespace {

// Bytes of the white space or control character that starts at `at`; 0 when there is none. All of
// Unicode's White_Space property counts, because readers split lines at it (Python's str.split).
std::size_t blank_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  if (byte(0) <= 0x20 || byte(0) == 0x7F) return 1;
  if (byte(0) == 0xC2 && (byte(1) == 0x85 || byte(1) == 0xA0)) return 2;
  if (byte(0) == 0xE1 && byte(1) == 0x9A && byte(2) == 0x80) return 3;
  if (byte(0) == 0xE2 && byte(1) == 0x80) {
    const bool space = byte(2) >= 0x80 && byte(2) <= 0x8A;
    return space || byte(2) == 0xA8 || byte(2) == 0xA9 || byte(2) == 0xAF ? 3 : 0;
  }
  if (byte(0) == 0xE2 && byte(1) == 0x81 && byte(2) == 0x9F) return 3;
  if (byte(0) == 0xE3 && byte(1) == 0x80 && byte(2) == 0x80) return 3;
  return 0;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Byte of the escape that starts at `at`, -1 when there is none.
int escaped_byte(std::string_view text, std::size_t at) {
  if (text.size() < 3 || at > text.size() - 3 || text[at] != '%') return -1;
  const int high = hex_digit(text[at + 1]);
  const int low = hex_digit(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace

std::string encode_field(std::string_view id) {
  if (id.empty()) return "<NA>";
  std::string field;
  field.reserve(id.size());
  for (std::size_t i = 0; i < id.size();) {
    const std::size_t blank = id[i] == '%' ? 1 : blank_length(id, i);
    for (std::size_t end = i + blank; i < end; ++i) {
      field += fmt::format("%{:02X}", static_cast<unsigned char>(id[i]));
    }
    if (blank == 0) field += id[i++];
  }
  return field;
}

std::string decode_field(std::string_view field) {
  std::string id;
  id.reserve(field.size());
  for (std::size_t i = 0; i < field.size();) {
    // Take back only what encode_field() would have escaped: at most three bytes belong together.
    std::string run;
    while (run.size() < 3 && escaped_byte(field, i + 3 * run.size()) >= 0) {
      run += static_cast<char>(escaped_byte(field, i + 3 * run.size()));
    }
    if (run.empty()) {
      id += field[i++];
      continue;
    }
    const std::size_t length = run[0] == '%' ? 1 : blank_length(run, 0);
    id += length > 0 ? run.substr(0, length) : std::string(field.substr(i, 3));
    i += 3 * std::max<std::size_t>(length, 1);
  }
  return id;
}

}  // namespace diarist::output
