// SRT, as tolerant as players are: numbers may be missing, and blank lines inside a text do not end
// it, since only the next line with times does.

#include <algorithm>

#include "base/error.hpp"
#include "output/transcript_cues.hpp"
#include "output/transcript_document.hpp"
#include "output/transcript_times.hpp"

namespace diarist::output {
namespace {

bool is_number(std::string_view line) {
  line = without_blanks(line);
  return !line.empty() &&
         std::all_of(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A line with an arrow whose left side looks like a time was meant to be one.
bool means_times(std::string_view line) {
  const std::string_view text = without_blanks(line);
  return line.find("-->") != std::string_view::npos && !text.empty() &&
         (text[0] == '-' ? text.size() > 1 && text[1] >= '0' && text[1] <= '9'
                         : text[0] >= '0' && text[0] <= '9') &&
         text.substr(0, text.find("-->")).find(':') != std::string_view::npos;
}

std::string join(const std::vector<std::string_view>& lines, std::size_t from, std::size_t to) {
  while (to > from && is_blank(lines[to - 1])) --to;
  while (from < to && is_blank(lines[from])) ++from;
  std::string text;
  for (std::size_t i = from; i < to; ++i) {
    if (i > from) text += '\n';
    text += lines[i];
  }
  return text;
}

}  // namespace

void read_srt(std::string_view text, const std::string& source, Transcript& transcript,
              TranscriptDocument& document) {
  transcript.format = TranscriptFormat::kSrt;
  const std::vector<std::string_view> lines = lines_of(text);
  OddTimes odd_times;
  std::size_t text_from = 0;  // where the text of the last cue begins
  const auto end_text = [&](std::size_t line) {
    const std::string before = join(lines, text_from, line);
    if (!document.subtitles.cues.empty()) {
      document.subtitles.cues.back().payload = before;
      transcript.segments.back().text = plain_cue_text(before, false);
    } else if (!before.empty()) {
      base::fail(ErrorCode::kBadFile,
                 "{}, line {}: text before the first cue; an SRT file begins with a number and a "
                 "line of times",
                 source, text_from + 1);
    }
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::optional<CueTimes> times = cue_times(lines[i]);
    if (!times) {
      if (means_times(lines[i]))
        base::fail(ErrorCode::kBadFile,
                   "{}, line {}: damaged times; write them as 00:00:01,000 --> 00:00:02,500",
                   source, i + 1);
      continue;
    }
    const bool numbered = i > text_from && is_number(lines[i - 1]);
    end_text(numbered ? i - 1 : i);
    text_from = i + 1;
    Cue cue;
    if (numbered) cue.id = std::string(lines[i - 1]);
    cue.timing = std::string(lines[i]);
    cue.settings = std::string(times->settings);
    document.subtitles.cues.push_back(std::move(cue));
    TranscriptSegment segment;
    segment.start = times->start;
    segment.end = times->end;
    segment.origin = transcript.segments.size();
    odd_times.check(segment.start, segment.end, {"cue", segment.origin});
    transcript.segments.push_back(std::move(segment));
  }
  if (transcript.segments.empty())
    base::fail(ErrorCode::kBadFile, "{}: has no line of times like 00:00:01,000 --> 00:00:02,500",
               source);
  end_text(lines.size());
  odd_times.add_warnings(source, transcript.warnings);
}

namespace {

std::string prefixed(const std::string& payload, const std::string& speaker, SpeakerStyle style) {
  if (speaker.empty() || is_blank(payload)) return payload;
  // Overrides of position ({\an8}) have to stay in front.
  std::size_t at = 0;
  while (payload.compare(at, 2, "{\\") == 0) {
    const std::size_t end = payload.find('}', at);
    if (end == std::string::npos) break;
    at = end + 1;
  }
  const std::string name = one_line_name(speaker);
  const std::string prefix = style == SpeakerStyle::kColon ? name + ": " : "[" + name + "] ";
  return payload.substr(0, at) + prefix + payload.substr(at);
}

}  // namespace

std::string srt_text(const Transcript& transcript, SpeakerStyle style) {
  const bool same = transcript.format == TranscriptFormat::kSrt && transcript.document != nullptr;
  std::string text;
  double last_end = 0;
  for (std::size_t i = 0; i < transcript.segments.size(); ++i) {
    const TranscriptSegment& segment = transcript.segments[i];
    if (same) {
      const std::vector<Cue>& cues = transcript.document->subtitles.cues;
      if (segment.origin >= cues.size())
        base::fail(ErrorCode::kInvalidArgument,
                   "segment {} of the transcript does not fit the document it was read from", i);
      const Cue& cue = cues[segment.origin];
      if (cue.id) text += *cue.id + "\n";
      text += cue.timing + "\n" + prefixed(cue.payload, segment.speaker, style) + "\n\n";
      continue;
    }
    text += std::to_string(i + 1) + "\n" + made_cue_times(segment, last_end, ',') + "\n" +
            prefixed(cue_payload(segment.text), segment.speaker, style) + "\n\n";
  }
  return text;
}

std::string plain_transcript_text(const Transcript& transcript, SpeakerStyle style) {
  std::string text;
  std::string line;
  const std::string* speaker = nullptr;
  const auto end_line = [&] {
    if (!line.empty()) text += prefixed(line, *speaker, style) + "\n";
    line.clear();
  };
  for (const TranscriptSegment& segment : transcript.segments) {
    std::string words = cue_payload(segment.text);
    std::replace(words.begin(), words.end(), '\n', ' ');
    if (words.empty()) continue;
    if (speaker != nullptr && *speaker != segment.speaker) end_line();
    speaker = &segment.speaker;
    line += (line.empty() ? "" : " ") + words;
  }
  end_line();
  return text;
}

}  // namespace diarist::output
