#include "config_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "diarist/error.hpp"

namespace diarist::cli {
namespace {

/// The part of TOML that options need: sections, and keys with text, numbers, booleans or lists of
/// them. (toml++ 3.3, the library at hand, runs into undefined behaviour at headers like "[=".)
class ConfigReader {
 public:
  ConfigReader(std::string_view text, const std::string& source) : text_(text), source_(source) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  std::vector<ConfigEntry> read() {
    for (skip_lines(); !done(); skip_lines()) {
      if (peek() == '[')
        read_section();
      else
        read_entry();
      end_line();
    }
    return std::move(entries_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", source_, line_, what));
  }

  bool done() const { return at_ >= text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  bool take(char c) {
    if (peek() != c || done()) return false;
    ++at_;
    return true;
  }

  void skip_blanks() {
    while (!done() && (peek() == ' ' || peek() == '\t')) ++at_;
  }

  void skip_comment() {
    skip_blanks();
    if (peek() == '#') at_ = std::min(text_.find('\n', at_), text_.size());
  }

  // Also "\r\n". \return false when the line goes on.
  bool take_line_end() {
    const std::size_t start = at_;
    take('\r');
    if (take('\n')) {
      ++line_;
      return true;
    }
    at_ = start;
    return false;
  }

  void skip_lines() {
    do skip_comment();
    while (take_line_end());
  }

  void end_line() {
    skip_comment();
    if (!done() && !take_line_end()) refuse("text behind the end of a value or section");
  }

  static bool is_bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  }

  std::string read_name() {
    skip_blanks();
    std::string name;
    if (peek() == '"' || peek() == '\'')
      name = read_quoted();
    else
      while (!done() && is_bare(peek())) name += text_[at_++];
    if (name.empty()) refuse("the name of a key or section is missing");
    skip_blanks();
    return name;
  }

  std::vector<std::string> read_path() {
    std::vector<std::string> path;
    do path.push_back(read_name());
    while (take('.'));
    return path;
  }

  void read_section() {
    take('[');
    if (peek() == '[') refuse("a section stands in single brackets");
    section_ = read_path();
    if (!take(']')) refuse("']' is missing behind the section");
    if (!seen_.insert(section_).second) refuse("this section was there before");
    entries_.push_back({section_, "", {}, line_});
  }

  void read_entry() {
    ConfigEntry entry{section_, "", {}, line_};
    const std::vector<std::string> path = read_path();
    entry.section.insert(entry.section.end(), path.begin(), path.end() - 1);
    entry.key = path.back();
    std::vector<std::string> whole = entry.section;
    whole.push_back(entry.key);
    if (!seen_.insert(whole).second) refuse(entry.key + " was there before");
    if (!take('=')) refuse(fmt::format("'=' is missing behind {}", entry.key));
    skip_blanks();
    if (take('['))
      entry.values = read_list(entry.key);
    else
      entry.values.push_back(read_value());
    entries_.push_back(std::move(entry));
  }

  std::vector<std::string> read_list(const std::string& key) {
    std::vector<std::string> values;
    for (skip_lines(); !take(']'); skip_lines()) {
      values.push_back(read_value());
      skip_lines();
      if (!take(',') && peek() != ']') refuse(fmt::format("',' or ']' is missing in {}", key));
    }
    if (values.empty()) refuse(key + " has an empty list");
    return values;
  }

  std::string read_value() {
    if (peek() == '"' || peek() == '\'') return read_quoted();
    std::string word;
    while (!done() && (is_bare(peek()) || peek() == '.' || peek() == '+')) word += text_[at_++];
    const bool number = !word.empty() &&
                        word.find_first_not_of("0123456789.+-eE_") == std::string::npos &&
                        word.find_first_of("0123456789") != std::string::npos;
    if (word != "true" && word != "false" && !number)
      refuse("a value must be text in quotes, a number, true, false, or a list");
    if (number) std::erase(word, '_');  // 10_000
    return word;
  }

  std::string read_quoted() {
    const char quote = text_[at_++];
    if (text_.substr(at_).starts_with(std::string(2, quote)))
      refuse("text must stand on one line, in single or double quotes");
    std::string value;
    while (!take(quote)) {
      if (done() || peek() == '\n') refuse("a quote is missing at the end of a text");
      const char c = text_[at_++];
      value += c == '\\' && quote == '"' ? read_escape() : std::string(1, c);
    }
    return value;
  }

  std::string read_escape() {
    if (done()) refuse("a quote is missing at the end of a text");
    const char c = text_[at_++];
    constexpr std::string_view kNames = "btnfr\"\\", kMeanings = "\b\t\n\f\r\"\\";
    if (const std::size_t found = kNames.find(c); found != std::string_view::npos)
      return std::string(1, kMeanings[found]);
    if (c != 'u' && c != 'U') refuse("an unknown escape; a backslash is written as two");
    const std::size_t digits = c == 'u' ? 4 : 8;
    const std::string_view hex = text_.substr(at_, digits);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    if (hex.size() < digits || error != std::errc() || end != hex.data() + digits ||
        code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
      refuse("no character has this number");
    at_ += digits;
    return utf8(code);
  }

  static std::string utf8(std::uint32_t code) {
    const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
    const auto rest = [&](int shift) { return byte(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) return {byte(code)};
    if (code < 0x800) return {byte(0xC0 | (code >> 6)), rest(0)};
    if (code < 0x10000) return {byte(0xE0 | (code >> 12)), rest(6), rest(0)};
    return {byte(0xF0 | (code >> 18)), rest(12), rest(6), rest(0)};
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<std::string> section_;
  std::set<std::vector<std::string>> seen_;
  std::vector<ConfigEntry> entries_;
};

}  // namespace

std::vector<ConfigEntry> parse_config(std::string_view text, const std::string& source) {
  return ConfigReader(text, source).read();
}

std::vector<ConfigEntry> read_config(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw Error(ErrorCode::kNotFound, fmt::format("{}: no such configuration file", file.string()));
  if (std::filesystem::is_directory(file, error))
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: is a folder, not a configuration file", file.string()));
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: can't read: {}", file.string(), std::strerror(errno)));
  const std::string text((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  return parse_config(text, file.string());
}

std::filesystem::path default_config_file() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  const std::filesystem::path own = variable("XDG_CONFIG_HOME");
  if (own.is_absolute()) return own / "diarist" / "config.toml";
  const std::filesystem::path home = variable("HOME");
  return home.empty() ? home : home / ".config" / "diarist" / "config.toml";
}

}  // namespace diarist::cli
