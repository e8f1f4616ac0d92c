// WebVTT: a header, and blocks between blank lines: cues, notes, styles, regions.

#include <algorithm>

#include "base/error.hpp"
#include "output/transcript_cues.hpp"
#include "output/transcript_document.hpp"
#include "output/transcript_times.hpp"

namespace diarist::output {
namespace {

// One part of a payload: what follows a time inside it.
struct Chunk {
  std::string text;
  std::optional<double> start;
};

// Length of a tag <00:01:02.345> at the head of a text, and its time.
std::optional<double> time_tag(std::string_view text, std::size_t& length) {
  text = text.substr(0, kLongestTag);
  if (text.size() < 3 || text[0] != '<' || text[1] < '0' || text[1] > '9') return std::nullopt;
  const std::size_t end = text.find('>');
  if (end == std::string_view::npos) return std::nullopt;
  length = end + 1;
  return clock_time(text.substr(1, end - 1));
}

std::vector<Chunk> chunks_of(std::string_view payload) {
  std::vector<Chunk> chunks(1);
  while (!payload.empty()) {
    std::size_t length = 1;
    const std::optional<double> time = time_tag(payload, length);
    if (time) {
      chunks.push_back({std::string(payload.substr(0, length)), time});
    } else {
      length = 1;
      chunks.back().text += payload[0];
    }
    payload.remove_prefix(length);
  }
  return chunks;
}

// Every tag that a chunk opens it also closes: it can stand in another cue.
bool is_balanced(std::string_view chunk) {
  std::vector<std::string_view> open;
  for (std::size_t at = chunk.find('<'); at != std::string_view::npos; at = chunk.find('<', at)) {
    const std::size_t end = chunk.find('>', at);
    if (end == std::string_view::npos) return false;
    std::string_view tag = chunk.substr(at + 1, end - at - 1);
    at = end;
    if (tag.empty() || (tag[0] >= '0' && tag[0] <= '9')) continue;
    const bool closes = tag[0] == '/';
    if (closes) tag.remove_prefix(1);
    tag = tag.substr(0, tag.find_first_of(" \t.\n"));
    if (!closes) {
      open.push_back(tag);
    } else if (open.empty() || open.back() != tag) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

// Words where the payload has times between them; none where tags reach across these.
void add_words(Cue& cue, TranscriptSegment& segment) {
  std::vector<Chunk> chunks = chunks_of(cue.payload);
  if (chunks.size() < 2) return;
  std::vector<Chunk> merged;
  for (Chunk& chunk : chunks) {
    if (!is_balanced(chunk.text)) return;
    // Blanks and tags alone are no word and stay with the one before.
    const bool said = !is_blank(plain_cue_text(chunk.text, true));
    if (merged.empty() || (said && !is_blank(plain_cue_text(merged.back().text, true)))) {
      merged.push_back(std::move(chunk));
    } else {
      merged.back().text += chunk.text;
      if (said) merged.back().start = chunk.start;
    }
  }
  if (merged.size() < 2) return;
  merged.front().start = merged.front().start ? merged.front().start : segment.start;
  for (std::size_t i = 0; i < merged.size(); ++i) {
    const std::optional<double> end = i + 1 < merged.size() ? merged[i + 1].start : segment.end;
    segment.words.push_back({merged[i].start, end, plain_cue_text(merged[i].text, true), {}});
    cue.chunks.push_back(std::move(merged[i].text));
  }
}

class VttReader {
 public:
  VttReader(std::string_view text, const std::string& source, Transcript& transcript, CueFile& file)
      : lines_(lines_of(text)), source_(source), transcript_(transcript), file_(file) {}

  void read() {
    file_.header = block();
    while (next_ < lines_.size()) {
      if (is_empty(next_)) {
        ++next_;
      } else {
        read_block();
      }
    }
    file_.blocks_after = std::move(blocks_);
    odd_times_.add_warnings(source_, transcript_.warnings);
  }

 private:
  bool is_empty(std::size_t line) const { return lines_[line].empty(); }
  bool has_arrow(std::size_t line) const {
    return lines_[line].find("-->") != std::string_view::npos;
  }

  // The lines up to the next blank one, or to one with times.
  std::string block() {
    std::string text;
    for (const std::size_t first = next_; next_ < lines_.size() && !is_empty(next_); ++next_) {
      if (next_ > first && has_arrow(next_)) break;
      if (next_ > first) text += '\n';
      text += lines_[next_];
    }
    return text;
  }

  void read_block() {
    const bool note = lines_[next_].starts_with("NOTE") || lines_[next_].starts_with("STYLE") ||
                      lines_[next_].starts_with("REGION");
    const bool id = !has_arrow(next_) && next_ + 1 < lines_.size() && has_arrow(next_ + 1);
    if (has_arrow(next_)) {
      read_cue(std::nullopt);
    } else if (id && !note) {
      ++next_;
      read_cue(std::string(lines_[next_ - 1]));
    } else {
      blocks_.push_back(block());
    }
  }

  void read_cue(std::optional<std::string> id) {
    const std::optional<CueTimes> times = cue_times(lines_[next_]);
    if (!times)
      base::fail(ErrorCode::kBadFile,
                 "{}, line {}: damaged times; write them as 00:01.000 --> 00:02.500", source_,
                 next_ + 1);
    Cue cue;
    cue.blocks_before = std::move(blocks_);
    blocks_.clear();
    cue.id = std::move(id);
    cue.timing = std::string(lines_[next_]);
    cue.settings = std::string(times->settings);
    ++next_;
    if (next_ < lines_.size() && !has_arrow(next_)) cue.payload = block();
    TranscriptSegment segment;
    segment.start = times->start;
    segment.end = times->end;
    segment.origin = transcript_.segments.size();
    segment.text = plain_cue_text(cue.payload, true);
    odd_times_.check(segment.start, segment.end, {"cue", segment.origin});
    add_words(cue, segment);
    transcript_.segments.push_back(std::move(segment));
    file_.cues.push_back(std::move(cue));
  }

  std::vector<std::string_view> lines_;
  const std::string& source_;
  Transcript& transcript_;
  CueFile& file_;
  std::size_t next_ = 0;
  std::vector<std::string> blocks_;
  OddTimes odd_times_;
};

// Voices that the payload names already give way to the one found.
std::string without_voices(std::string_view payload) {
  std::string text;
  while (!payload.empty()) {
    const bool voice = payload.starts_with("<v>") || payload.starts_with("<v ") ||
                       payload.starts_with("<v.") || payload.starts_with("<v\t") ||
                       payload.starts_with("</v>");
    const std::size_t end =
        voice ? payload.substr(0, kLongestTag).find('>') : std::string_view::npos;
    if (end != std::string_view::npos) {
      payload.remove_prefix(end + 1);
    } else {
      text += payload[0];
      payload.remove_prefix(1);
    }
  }
  return text;
}

std::string voiced(const std::string& payload, const std::string& speaker) {
  if (speaker.empty() || is_blank(payload)) return payload;
  std::string text = "<v ";
  text.append(escaped_for_vtt(one_line_name(speaker))).append(">");
  return text.append(without_voices(payload));
}

// A cue of the document, or the piece of it that a segment holds.
std::string cue_text(const Cue& cue, const TranscriptSegment& segment, std::size_t index) {
  const std::size_t count = segment.words.size();
  if (segment.first_word > cue.chunks.size() || count > cue.chunks.size() - segment.first_word)
    base::fail(ErrorCode::kInvalidArgument,
               "segment {} of the transcript does not fit the document it was read from", index);
  std::string text;
  if (cue.id) {
    text += *cue.id;
    if (segment.first_word > 0) text.append("-").append(std::to_string(segment.first_word + 1));
    text += "\n";
  }
  if (count == cue.chunks.size())
    return text + cue.timing + "\n" + voiced(cue.payload, segment.speaker) + "\n";
  std::string payload;
  for (std::size_t i = 0; i < count; ++i) payload += cue.chunks[segment.first_word + i];
  const double start = segment.start.value_or(0);
  text += subtitle_clock(start, '.') + " --> " +
          subtitle_clock(std::max(segment.end.value_or(start), start), '.');
  if (!cue.settings.empty()) text += " " + cue.settings;
  return text + "\n" + voiced(std::string(without_blanks(payload)), segment.speaker) + "\n";
}

}  // namespace

void read_vtt(std::string_view text, const std::string& source, Transcript& transcript,
              TranscriptDocument& document) {
  transcript.format = TranscriptFormat::kVtt;
  VttReader(text, source, transcript, document.subtitles).read();
}

std::string vtt_text(const Transcript& transcript) {
  const bool same = transcript.format == TranscriptFormat::kVtt && transcript.document != nullptr;
  const CueFile* file = same ? &transcript.document->subtitles : nullptr;
  std::string text = same ? file->header : "WEBVTT";
  text += "\n\n";
  double last_end = 0;
  std::size_t last_origin = same ? file->cues.size() : 0;
  for (std::size_t i = 0; i < transcript.segments.size(); ++i) {
    const TranscriptSegment& segment = transcript.segments[i];
    if (same) {
      if (segment.origin >= file->cues.size())
        base::fail(ErrorCode::kInvalidArgument,
                   "segment {} of the transcript does not fit the document it was read from", i);
      const Cue& cue = file->cues[segment.origin];
      if (segment.origin != last_origin)
        for (const std::string& block : cue.blocks_before) text += block + "\n\n";
      last_origin = segment.origin;
      text += cue_text(cue, segment, i) + "\n";
      continue;
    }
    text += made_cue_times(segment, last_end, '.') + "\n" +
            voiced(escaped_for_vtt(cue_payload(segment.text)), segment.speaker) + "\n\n";
  }
  if (same)
    for (const std::string& block : file->blocks_after) text += block + "\n\n";
  return text;
}

}  // namespace diarist::output
