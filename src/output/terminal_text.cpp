#include "output/terminal_text.hpp"

#include <algorithm>

namespace diarist::output {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string blanks(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

}  // namespace

int text_width(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string shown(std::string_view text, int most, bool ascii) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, which terminals may obey too, are 0xC2 and the byte of the same number.
    const bool high = byte == 0xC2 && i + 1 < text.size() &&
                      static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                      static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F || high) {
      result += '?';
      if (high) ++i;
    } else {
      result += text[i];
    }
  }
  if (text_width(result) <= most) return result;
  std::size_t end = 0;
  for (int left = most - 1; end < result.size(); ++end) {
    if (!continues(result[end]) && left-- == 0) break;
  }
  return result.substr(0, end) + (ascii ? "~" : "…");
}

std::string pad_right(const std::string& text, int width) {
  return text + blanks(width - text_width(text));
}

std::string pad_left(const std::string& text, int width) {
  return blanks(width - text_width(text)) + text;
}

}  // namespace diarist::output
