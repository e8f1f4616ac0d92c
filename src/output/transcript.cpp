// One door in, one door out.

#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "output/transcript_cues.hpp"
#include "output/transcript_document.hpp"

namespace diarist {
namespace {

constexpr const char* kKnown =
    "give JSON of whisper, faster-whisper, WhisperX or whisper.cpp, SRT or WebVTT";

bool is_vtt(std::string_view text) {
  constexpr std::string_view kMagic = "WEBVTT";
  if (!text.starts_with(kMagic)) return false;
  return text.size() == kMagic.size() ||
         std::string_view(" \t\r\n").find(text[kMagic.size()]) != std::string_view::npos;
}

// Line ends and the byte order mark as in the file.
std::string with_file_manners(std::string text, const TranscriptDocument& document) {
  if (document.carriage_returns) {
    std::string lines;
    lines.reserve(text.size() + text.size() / 16);
    for (const char c : text) {
      if (c == '\n') lines += '\r';
      lines += c;
    }
    text = std::move(lines);
  }
  return document.byte_order_mark ? std::string(output::kByteOrderMark) + text : text;
}

}  // namespace

Transcript parse_transcript(std::string_view text, const std::string& source) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    base::fail(ErrorCode::kBadFile,
               "{}: is UTF-16; convert it with: iconv -f UTF-16 -t UTF-8 < FILE", source);
  Transcript transcript;
  auto document = std::make_shared<TranscriptDocument>();
  document->byte_order_mark = text.starts_with(output::kByteOrderMark);
  if (document->byte_order_mark) text.remove_prefix(output::kByteOrderMark.size());
  const std::string_view content = output::without_blanks(text);
  if (content.empty()) base::fail(ErrorCode::kBadFile, "{}: is empty; {}", source, kKnown);
  if (content[0] == '{' || content[0] == '[') {
    output::read_json_transcript(text, source, transcript, *document);
  } else {
    const std::size_t line = text.find('\n');
    document->carriage_returns =
        line != std::string_view::npos && line > 0 && text[line - 1] == '\r';
    if (is_vtt(text)) {
      output::read_vtt(text, source, transcript, *document);
    } else if (content.find("-->") != std::string_view::npos) {
      output::read_srt(text, source, transcript, *document);
    } else {
      base::fail(ErrorCode::kBadFile, "{}: is no transcript with times; {}", source, kKnown);
    }
  }
  transcript.document = std::move(document);
  return transcript;
}

Transcript read_transcript(const std::filesystem::path& file) {
  return parse_transcript(base::read_text(file), file.string());
}

std::string write_transcript(const Transcript& transcript, TranscriptFormat format,
                             SpeakerStyle style) {
  const TranscriptDocument* document = transcript.document.get();
  const bool same = document != nullptr && transcript.format == format;
  std::string text;
  switch (format) {
    case TranscriptFormat::kJson:
      text = same ? output::json_transcript_text(transcript)
                  : output::plain_json_transcript_text(transcript);
      return same && document->byte_order_mark ? std::string(output::kByteOrderMark) + text : text;
    case TranscriptFormat::kSrt:
      text = output::srt_text(transcript, style);
      break;
    case TranscriptFormat::kVtt:
      text = output::vtt_text(transcript);
      break;
    case TranscriptFormat::kText:
      return output::plain_transcript_text(transcript, style);
  }
  return same ? with_file_manners(std::move(text), *document) : text;
}

}  // namespace diarist
