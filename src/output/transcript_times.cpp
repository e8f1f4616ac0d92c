#include "output/transcript_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "output/number_text.hpp"

namespace diarist::output {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

bool means_no_time(std::string_view text) {
  const std::string word = lower(text);
  constexpr std::array<std::string_view, 5> kWords = {"", "nan", "null", "none", "undefined"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const char* kind_name(JsonNode::Kind kind) {
  switch (kind) {
    case JsonNode::Kind::kBoolean:
      return "true or false";
    case JsonNode::Kind::kArray:
      return "a list";
    case JsonNode::Kind::kObject:
      return "an object";
    default:
      return "text";
  }
}

// Decimal digits at the head of a text, at most nine; takes them off.
std::optional<std::int64_t> take_digits(std::string_view& text) {
  std::int64_t value = 0;
  std::size_t count = 0;
  for (; count < text.size() && text[count] >= '0' && text[count] <= '9'; ++count) {
    if (count == 9) return std::nullopt;
    value = value * 10 + (text[count] - '0');
  }
  if (count == 0) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

}  // namespace

std::string JsonPlace::text(std::string_view member) const {
  std::string place = fmt::format("{}[{}]", list.empty() ? "item" : list, item);
  if (!inner.empty()) place += fmt::format(".{}[{}]", inner, inner_item);
  if (!member.empty()) place += fmt::format(".{}", member);
  return place;
}

std::optional<double> json_time(const JsonNode* node, double unit, const std::string& source,
                                const JsonPlace& place, std::string_view member) {
  if (node == nullptr || node->kind == JsonNode::Kind::kNull) return std::nullopt;
  if (node->kind != JsonNode::Kind::kNumber && node->kind != JsonNode::Kind::kString)
    base::fail(ErrorCode::kBadFile, "{}: {} is {} and must be a number", source, place.text(member),
               kind_name(node->kind));
  const std::string_view text = trimmed(node->text);
  if (means_no_time(text)) return std::nullopt;
  const std::optional<double> value = number(text);
  if (!value)
    base::fail(ErrorCode::kBadFile, "{}: {} is text and must be a number", source,
               place.text(member));
  const double seconds = *value * unit;
  if (std::isnan(seconds)) return std::nullopt;
  if (std::abs(seconds) > kMostSeconds)
    base::fail(ErrorCode::kBadFile, "{}: {} is no time: more than {:g} seconds", source,
               place.text(member), kMostSeconds);
  return seconds;
}

std::optional<double> clock_time(std::string_view text) {
  text = trimmed(text);
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::array<std::int64_t, 3> fields{};
  std::size_t count = 0;
  while (true) {
    const std::optional<std::int64_t> field = take_digits(text);
    if (!field || count == fields.size()) return std::nullopt;
    fields[count++] = *field;
    if (!text.starts_with(':')) break;
    text.remove_prefix(1);
  }
  if (count < 2) return std::nullopt;
  if (count == 2) fields = {0, fields[0], fields[1]};
  if (fields[1] > 99 || fields[2] > 99 || fields[0] > 99999) return std::nullopt;
  std::int64_t microseconds = 0;
  if (text.starts_with(',') || text.starts_with('.')) {
    text.remove_prefix(1);
    std::int64_t unit = 100000;
    const std::size_t digits = text.size();
    if (digits == 0 || digits > 9) return std::nullopt;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1), unit /= 10)
      microseconds += (text[0] - '0') * unit;
  }
  if (!text.empty()) return std::nullopt;
  const std::int64_t total =
      ((fields[0] * 60 + fields[1]) * 60 + fields[2]) * 1000000 + microseconds;
  const double seconds = static_cast<double>(total) / 1e6;
  return negative ? -seconds : seconds;
}

std::string subtitle_clock(double seconds, char point) {
  const std::int64_t time = std::max<std::int64_t>(rounded_milliseconds(seconds), 0);
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", time / 3600000, time / 60000 % 60,
                     time / 1000 % 60, point, time % 1000);
}

void OddTimes::add_warnings(const std::string& source, std::vector<std::string>& warnings) const {
  if (count_ > 0)
    warnings.push_back(
        fmt::format("{}: {} times end before they start (first at {}); only the start counts",
                    source, count_, first_));
}

}  // namespace diarist::output
