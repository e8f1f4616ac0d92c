#include "output/markup.hpp"

namespace diarist::output {

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kMeaningful = "\\`*_[]<>|#~&";
  std::string result;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += '?';
      continue;
    }
    if (kMeaningful.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    result += c;
    if (c == '"') result += c;
  }
  return result + "\"";
}

}  // namespace diarist::output
