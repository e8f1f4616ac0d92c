#include "output/report/markup.hpp"

#include <array>
#include <cstdint>

namespace diarist::output {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

bool continues(std::string_view text, std::size_t i) { return (byte_at(text, i) & 0xC0U) == 0x80U; }

}  // namespace

char32_t utf8_code_point(std::string_view text) noexcept {
  const unsigned lead = byte_at(text, 0);
  switch (utf8_length(text)) {
    case 1:
      return lead;
    case 2:
      return ((lead & 0x1FU) << 6) | (byte_at(text, 1) & 0x3FU);
    case 3:
      return ((lead & 0x0FU) << 12) | ((byte_at(text, 1) & 0x3FU) << 6) |
             (byte_at(text, 2) & 0x3FU);
    case 4:
      return ((lead & 0x07U) << 18) | ((byte_at(text, 1) & 0x3FU) << 12) |
             ((byte_at(text, 2) & 0x3FU) << 6) | (byte_at(text, 3) & 0x3FU);
    default:
      return 0xFFFD;
  }
}

std::size_t utf8_length(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const unsigned lead = byte_at(text, 0), second = byte_at(text, 1);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(text, 1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool overlong = lead == 0xE0 && second < 0xA0;
    const bool surrogate = lead == 0xED && second > 0x9F;
    return continues(text, 1) && continues(text, 2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool overlong = lead == 0xF0 && second < 0x90;
    const bool beyond = lead == 0xF4 && second > 0x8F;
    const bool complete = continues(text, 1) && continues(text, 2) && continues(text, 3);
    return complete && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

std::string markup_text(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char32_t point = utf8_code_point(text);
    if (length == 0 || point == 0xFFFE || point == 0xFFFF) {
      escaped += kReplacement;
    } else if (point < 0x20 || (point >= 0x7F && point < 0xA0)) {
      escaped += ' ';
    } else if (point == '&') {
      escaped += "&amp;";
    } else if (point == '<') {
      escaped += "&lt;";
    } else if (point == '>') {
      escaped += "&gt;";
    } else if (point == '"') {
      escaped += "&quot;";
    } else if (point == '\'') {
      escaped += "&#39;";
    } else {
      escaped += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return escaped;
}

std::string json_inside_html(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<') {
      escaped += "\\u003c";
    } else if (c == '>') {
      escaped += "\\u003e";
    } else if (c == '&') {
      escaped += "\\u0026";
    } else if (json.substr(i).starts_with("\xE2\x80\xA8")) {
      escaped += "\\u2028";
      i += 2;
    } else if (json.substr(i).starts_with("\xE2\x80\xA9")) {
      escaped += "\\u2029";
      i += 2;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned group =
        (byte_at(bytes, i) << 16) | (byte_at(bytes, i + 1) << 8) | byte_at(bytes, i + 2);
    text += kDigits[group >> 18];
    text += kDigits[(group >> 12) & 63U];
    text += i + 1 < bytes.size() ? kDigits[(group >> 6) & 63U] : '=';
    text += i + 2 < bytes.size() ? kDigits[group & 63U] : '=';
  }
  return text;
}

}  // namespace diarist::output
