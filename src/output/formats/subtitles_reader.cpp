#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "output/formats/fields.hpp"
#include "output/formats/readers.hpp"
#include "output/formats/subtitles.hpp"
#include "output/formats/unicode.hpp"

namespace diarist::output {
namespace {

constexpr std::string_view kArrow = "-->";
constexpr std::size_t kLongestName = 60;  // before a colon; a sentence may have one too

// Digits only: from_chars would take a sign.
std::optional<double> digits(std::string_view text) {
  if (text.empty() || text.size() > 9 ||
      text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "01:02:03,456", "02:03.456": seconds.
std::optional<double> clock_from(std::string_view text) {
  const std::size_t point = text.find_first_of(".,");
  if (point == std::string_view::npos) return std::nullopt;
  std::string_view fraction = text.substr(point + 1);
  const std::optional<double> part = digits(fraction);
  if (!part || fraction.size() > 6) return std::nullopt;
  double seconds = 0;
  int groups = 0;
  std::string_view rest = text.substr(0, point);
  for (bool last = false; !last; ++groups) {
    const std::size_t colon = rest.find(':');
    last = colon == std::string_view::npos;
    const std::optional<double> group = digits(rest.substr(0, colon));
    if (!group || (groups > 0 && *group >= 60)) return std::nullopt;
    seconds = seconds * 60 + *group;
    if (!last) rest.remove_prefix(colon + 1);
  }
  if (groups < 2 || groups > 3) return std::nullopt;
  // One division, so that three digits give the double that their decimal number gives.
  const double scale = std::pow(10.0, static_cast<double>(fraction.size()));
  return (seconds * scale + *part) / scale;
}

std::string without_entities(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kEntities = {
      {{"&amp;", "&"},
       {"&lt;", "<"},
       {"&gt;", ">"},
       {"&quot;", "\""},
       {"&apos;", "'"},
       {"&nbsp;", "\xC2\xA0"},
       {"&lrm;", "\xE2\x80\x8E"},
       {"&rlm;", "\xE2\x80\x8F"}}};
  std::string result;
  while (!text.empty()) {
    bool found = false;
    for (const auto& [entity, character] : kEntities) {
      if (!text.starts_with(entity)) continue;
      result += character;
      text.remove_prefix(entity.size());
      found = true;
      break;
    }
    if (found) continue;
    result += text.front();
    text.remove_prefix(1);
  }
  return result;
}

// Names of the voice tags <v NAME> and <v.class NAME>.
std::vector<std::string> voices_of(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find("<v"); at != std::string_view::npos;
       at = text.find("<v", at + 2)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string_view::npos) break;
    const std::string_view tag = text.substr(at + 2, end - at - 2);
    const std::size_t blank = tag.find_first_of(" \t\n");
    if (blank == std::string_view::npos || (blank > 0 && tag[0] != '.')) continue;
    const std::string_view name = trimmed(tag.substr(blank));
    if (!name.empty()) names.push_back(unescaped(without_entities(name), kLineText));
  }
  return names;
}

// Of "[NAME]", "[NAME] words", "[NAME]: words" and "NAME: words".
std::optional<std::string> name_in_front(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || end == 1) return std::nullopt;
    return unescaped(text.substr(1, end - 1), kSubRipName);
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > kLongestName) return std::nullopt;
  const bool apart = colon + 1 == text.size() || text[colon + 1] == ' ' || text[colon + 1] == '\n';
  if (!apart || text.substr(0, colon).find('\n') != std::string_view::npos) return std::nullopt;
  return std::string(trimmed(text.substr(0, colon)));
}

// Cues of either format.
class CueReader {
 public:
  CueReader(std::string_view text, const Source& source, bool vtt)
      : rest_(text), source_(source), vtt_(vtt) {}

  Results read() {
    const bool says_nothing = trimmed(rest_).empty();
    bool cues = false;
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      const bool timing = line.find(kArrow) != std::string_view::npos;
      if (timing) {
        cues = true;
        read_cue(line);
      } else if (vtt_ && (line.starts_with("NOTE") || line.starts_with("STYLE") ||
                          line.starts_with("REGION") || line.starts_with("WEBVTT"))) {
        while (!rest_.empty() && !trimmed(next_line()).empty()) {
        }
      }
    }
    // An SRT file of no cues is empty; a VTT file has its first line.
    if (!vtt_ && !cues && !says_nothing)
      base::fail(ErrorCode::kBadFile,
                 "{}: no line has times (00:00:01,000 --> 00:00:02,500); this "
                 "is no SRT",
                 source_.name);
    return {result_of(source_.uri, turns_)};
  }

 private:
  std::string_view next_line() {
    ++line_;
    return take_line(rest_);
  }

  void read_cue(std::string_view timing) {
    const std::string place = fmt::format("{}, line {}", source_.name, line_);
    const std::size_t arrow = timing.find(kArrow);
    const std::vector<std::string_view> after = split_fields(timing.substr(arrow + kArrow.size()));
    const std::optional<double> start = clock_from(trimmed(timing.substr(0, arrow)));
    const std::optional<double> end = after.empty() ? std::nullopt : clock_from(after[0]);
    if (!start || !end) {
      base::fail(ErrorCode::kBadFile, "{}: {} is no time of a cue; write it like {}", place,
                 output::quoted(timing),
                 vtt_ ? "00:00:01.000 --> 00:00:02.500" : "00:00:01,000 --> 00:00:02,500");
    }
    check_times(*start, *end, place);
    std::string text;
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      if (trimmed(line).empty()) break;
      if (!text.empty()) text += '\n';
      text += line;
    }
    std::vector<std::string> names = voices_of(text);
    if (names.empty()) {
      if (std::optional<std::string> name = name_in_front(text)) names.push_back(*std::move(name));
    }
    if (names.empty()) {
      base::fail(ErrorCode::kBadFile,
                 "{}: the cue does not tell who speaks; begin its text with [NAME] or NAME:{}",
                 place, vtt_ ? " or <v NAME>" : "");
    }
    for (std::string& name : names) turns_.push_back({*start, *end, std::move(name)});
  }

  std::string_view rest_;
  const Source& source_;
  bool vtt_;
  std::size_t line_ = 0;
  std::vector<NamedTurn> turns_;
};

}  // namespace

Results results_of_srt(std::string_view text, const Source& source) {
  return CueReader(text, source, false).read();
}

Results results_of_vtt(std::string_view text, const Source& source) {
  if (!text.starts_with("WEBVTT")) {
    base::fail(ErrorCode::kBadFile, "{}: the first line of WebVTT is WEBVTT; add it", source.name);
  }
  return CueReader(text, source, true).read();
}

}  // namespace diarist::output
