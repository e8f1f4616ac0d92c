#include "output/transcript_json_repair.hpp"

#include <array>

#include "output/transcript_utf8.hpp"

namespace diarist::output {
namespace {

// The last 128 characters of Unicode's private plane 16 stand for the bytes 0x80 to 0xFF, and
// U+10FF01 before a bare number. They all begin with these bytes; where a text has such characters
// itself, their bytes get stand-ins too, so that undoing is exact.
constexpr std::string_view kStandIn = "\xF4\x8F";
constexpr std::string_view kBareMark = "\xF4\x8F\xBC\x81";
constexpr std::array<std::string_view, 3> kBareNumbers = {"NaN", "Infinity", "-Infinity"};

void add_stand_in(std::string& text, char c) {
  const auto byte = static_cast<unsigned char>(c);
  text += kStandIn;
  text += static_cast<char>(byte < 0xC0 ? 0xBE : 0xBF);
  text += static_cast<char>(0x80 | (byte & 0x3F));
}

// Walks over a text and copies it with its repairs.
class Repair {
 public:
  explicit Repair(std::string_view text) : text_(text) {}

  RepairedJson run() {
    while (at_ < text_.size()) step();
    if (result_.changed) result_.text.append(text_.substr(copied_));
    return std::move(result_);
  }

 private:
  void step() {
    const char c = text_[at_];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) return high_byte();
    if (c == '\n') ++line_;
    if (in_string_) return string_byte(c);
    if (c == '"') {
      in_string_ = true;
    } else if (c == 'N' || c == 'I' || c == '-') {
      for (const std::string_view number : kBareNumbers) {
        if (!text_.substr(at_).starts_with(number)) continue;
        begin_change(number.size());
        ++result_.bare_numbers;
        result_.text.append("\"").append(kBareMark).append(number).append("\"");
        return;
      }
    }
    ++at_;
  }

  void string_byte(char c) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      begin_change(1);
      ++result_.control_characters;
      result_.text.append("\\u00");
      result_.text += kDigits[static_cast<unsigned char>(c) >> 4U];
      result_.text += kDigits[static_cast<unsigned char>(c) & 0xFU];
      return;
    }
    ++at_;
  }

  void high_byte() {
    escaped_ = false;
    const Utf8Character character = utf8_at(text_, at_);
    if (character.length > 0 && character.code < 0x10FF00) {
      at_ += character.length;
      return;
    }
    const std::size_t count = character.length > 0 ? character.length : 1;
    if (character.length == 0) ++result_.broken_bytes;
    const std::size_t from = at_;
    begin_change(count);
    for (std::size_t i = 0; i < count; ++i) add_stand_in(result_.text, text_[from + i]);
  }

  // Copies what lies before the next `count` bytes and steps over them.
  void begin_change(std::size_t count) {
    result_.changed = true;
    if (result_.first_line == 0) result_.first_line = line_;
    result_.text.append(text_.substr(copied_, at_ - copied_));
    at_ += count;
    copied_ = at_;
  }

  std::string_view text_;
  RepairedJson result_;
  std::size_t at_ = 0;
  std::size_t copied_ = 0;
  std::size_t line_ = 1;
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace

RepairedJson repaired_json(std::string_view text) { return Repair(text).run(); }

std::string restored(std::string text) {
  std::size_t at = text.find(kStandIn);
  if (at == std::string::npos) return text;
  std::string result;
  std::size_t copied = 0;
  while (at != std::string::npos && text.size() - at >= 4) {
    const auto third = static_cast<unsigned char>(text[at + 2]);
    if (third == 0xBE || third == 0xBF) {
      result.append(text, copied, at - copied);
      const unsigned low = static_cast<unsigned char>(text[at + 3]) & 0x3FU;
      result += static_cast<char>((third == 0xBE ? 0x80U : 0xC0U) | low);
      copied = at + 4;
    }
    at = text.find(kStandIn, at + 4);
  }
  return result.append(text, copied);
}

std::string_view bare_number(std::string_view text) {
  return text.starts_with(kBareMark) ? text.substr(kBareMark.size()) : std::string_view();
}

}  // namespace diarist::output
