#include "output/transcript_cues.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "output/transcript_times.hpp"

namespace diarist::output {
namespace {

constexpr std::string_view kBlank = " \t\r\n\f\v";
constexpr std::string_view kArrow = "-->";

// Length of a tag or an override block at the head of a text; 0: there is none.
std::size_t markup_length(std::string_view text) {
  text = text.substr(0, kLongestTag);
  if (text.starts_with("{\\")) {
    const std::size_t end = text.find('}');
    return end == std::string_view::npos ? 0 : end + 1;
  }
  if (text.size() < 2 || text[0] != '<') return 0;
  const char next = text[1];
  const bool name = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
                    (next >= '0' && next <= '9') || next == '/';
  if (!name) return 0;
  const std::size_t end = text.find('>');
  return end == std::string_view::npos ? 0 : end + 1;
}

struct Reference {
  std::string_view name;
  std::string_view text;
};

constexpr std::array<Reference, 6> kReferences = {{{"&amp;", "&"},
                                                   {"&lt;", "<"},
                                                   {"&gt;", ">"},
                                                   {"&nbsp;", "\xC2\xA0"},
                                                   {"&lrm;", "\xE2\x80\x8E"},
                                                   {"&rlm;", "\xE2\x80\x8F"}}};

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    lines.push_back(text.substr(0, end));
    const bool both = text.substr(end).starts_with("\r\n");
    text.remove_prefix(std::min(end + (both ? 2 : 1), text.size()));
  }
  return lines;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kBlank) == std::string_view::npos;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<CueTimes> cue_times(std::string_view line) {
  const std::size_t arrow = line.find(kArrow);
  if (arrow == std::string_view::npos) return std::nullopt;
  const std::optional<double> start = clock_time(line.substr(0, arrow));
  std::string_view rest = line.substr(arrow + kArrow.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const std::size_t end_of_time = std::min(rest.find_first_of(" \t"), rest.size());
  const std::optional<double> end = clock_time(rest.substr(0, end_of_time));
  if (!start || !end) return std::nullopt;
  return CueTimes{*start, *end, without_blanks(rest.substr(end_of_time))};
}

std::string made_cue_times(const TranscriptSegment& segment, double& last_end, char point) {
  std::optional<double> start = segment.start;
  std::optional<double> end = segment.end;
  for (const TranscriptWord& word : segment.words) {
    if (!start) start = word.start;
    if (!segment.end && word.end) end = word.end;
  }
  const double from = start.value_or(last_end);
  last_end = std::max(end.value_or(from), from);
  return subtitle_clock(from, point) + " --> " + subtitle_clock(last_end, point);
}

std::string plain_cue_text(std::string_view payload, bool references) {
  std::string text;
  while (!payload.empty()) {
    if (const std::size_t length = markup_length(payload); length > 0) {
      payload.remove_prefix(length);
      continue;
    }
    if (references && payload[0] == '&') {
      const auto found =
          std::find_if(kReferences.begin(), kReferences.end(),
                       [&](const Reference& r) { return payload.starts_with(r.name); });
      if (found != kReferences.end()) {
        text += found->text;
        payload.remove_prefix(found->name.size());
        continue;
      }
    }
    text += payload[0];
    payload.remove_prefix(1);
  }
  return text;
}

std::string cue_payload(std::string_view text) {
  std::string payload;
  for (const std::string_view line : lines_of(text)) {
    const std::string_view words = without_blanks(line);
    if (words.empty()) continue;
    if (!payload.empty()) payload += '\n';
    payload += words;
  }
  for (std::size_t at = payload.find(kArrow); at != std::string::npos;
       at = payload.find(kArrow, at))
    payload.replace(at, kArrow.size(), "->");
  return payload;
}

std::string escaped_for_vtt(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else {
      result += c;
    }
  }
  return result;
}

std::string one_line_name(std::string_view name) {
  std::string result(name);
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return result;
}

}  // namespace diarist::output
