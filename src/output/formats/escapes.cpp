#include "output/formats/escapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace diarist::output {
namespace {

constexpr std::string_view kNone = "<NA>";
// A name that really is "<NA>" must not come back empty, and so on.
constexpr std::string_view kNoneAsName = "%3CNA>";
constexpr std::string_view kNoneAsNameAsName = "%253CNA>";

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
}

// Bytes of the control character, line separator or non-character that starts at `at`; 0: none.
std::size_t control_length(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  const unsigned second = byte_at(text, at + 1);
  const unsigned third = byte_at(text, at + 2);
  if (first < 0x20 || first == 0x7F) return 1;
  if (first == 0xC2 && second >= 0x80 && second <= 0x9F) return 2;
  if (first == 0xE2 && second == 0x80 && (third == 0xA8 || third == 0xA9)) return 3;
  if (first == 0xEF && second == 0xBF && (third == 0xBE || third == 0xBF)) return 3;
  return 0;
}

// The same for other white space. All of Unicode's White_Space property counts, because readers
// split lines at it (Python's str.split).
std::size_t blank_length(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  const unsigned second = byte_at(text, at + 1);
  const unsigned third = byte_at(text, at + 2);
  if (first == ' ') return 1;
  if (first == 0xC2 && second == 0xA0) return 2;
  if (first == 0xE1 && second == 0x9A && third == 0x80) return 3;
  if (first == 0xE2 && second == 0x80) {
    return (third >= 0x80 && third <= 0x8A) || third == 0xAF ? 3 : 0;
  }
  if (first == 0xE2 && second == 0x81 && third == 0x9F) return 3;
  if (first == 0xE3 && second == 0x80 && third == 0x80) return 3;
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

// Bytes of the character at `at` that an escape may stand for; 0: none.
std::size_t escapable_length(std::string_view text, std::size_t at, const Escapes& escapes) {
  if (text[at] == '%' || text[at] == ' ') return 1;
  if (escapes.marks.find(text[at]) != std::string_view::npos) return 1;
  const std::size_t control = control_length(text, at);
  return control > 0 || !escapes.every_blank ? control : blank_length(text, at);
}

// The character that the escapes at `at` stand for; empty: none that escaped() would have written.
std::string escaped_character(std::string_view text, std::size_t at, const Escapes& escapes) {
  std::string run;  // at most three bytes belong together
  while (run.size() < 3 && escaped_byte(text, at + 3 * run.size()) >= 0) {
    run += static_cast<char>(escaped_byte(text, at + 3 * run.size()));
  }
  return run.empty() ? run : run.substr(0, escapable_length(run, 0, escapes));
}

bool needs_escape(std::string_view name, std::size_t at, const Escapes& escapes) {
  if (name[at] == '%') {
    return escapes.every_percent || !escaped_character(name, at, escapes).empty();
  }
  if (name[at] == ' ') {
    return escapes.every_blank || at == 0 || at + 1 == name.size() || name[at - 1] == ' ';
  }
  return true;
}

}  // namespace

std::string escaped(std::string_view name, const Escapes& escapes) {
  if (name.empty()) return std::string(kNone);
  std::string text;
  text.reserve(name.size());
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t length = escapable_length(name, i, escapes);
    if (length == 0 || !needs_escape(name, i, escapes)) {
      text += name[i++];
      continue;
    }
    for (const std::size_t end = i + length; i < end; ++i) {
      text += fmt::format("%{:02X}", static_cast<unsigned char>(name[i]));
    }
  }
  if (text == kNone) return std::string(kNoneAsName);
  if (text == kNoneAsName) return std::string(kNoneAsNameAsName);
  return text;
}

std::string unescaped(std::string_view text, const Escapes& escapes) {
  if (text == kNone) return "";
  if (text == kNoneAsName) return std::string(kNone);
  std::string name;
  name.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::string character = escaped_character(text, i, escapes);
    if (!character.empty()) {
      name += character;
      i += 3 * character.size();
    } else {
      name += text[i++];
    }
  }
  return name;
}

std::string encode_field(std::string_view id) {
  return escaped(id, {.every_blank = true, .every_percent = true});
}

std::string decode_field(std::string_view field) {
  return unescaped(field, {.every_blank = true, .every_percent = true});
}

}  // namespace diarist::output
