#pragma once
// What a transcript was read from. Only the readers and writers of src/output look inside.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/transcripts.hpp"
#include "output/transcript_json_tree.hpp"

namespace diarist::output {

/// One subtitle. Lines are joined by '\n', whatever the file uses.
struct Cue {
  std::vector<std::string> blocks_before;  ///< WebVTT: notes, styles, regions
  std::optional<std::string> id;           ///< line above the times: SRT's number, WebVTT's id
  std::string timing;                      ///< the whole line with the times
  std::string settings;                    ///< what follows the times on it
  std::string payload;
  /// WebVTT with times inside: the payload cut before each of them; one per word.
  std::vector<std::string> chunks;
};

struct CueFile {
  std::string header;  ///< WebVTT: from "WEBVTT" to the first blank line
  std::vector<Cue> cues;
  std::vector<std::string> blocks_after;
};

}  // namespace diarist::output

namespace diarist {

struct TranscriptDocument {
  bool byte_order_mark = false;
  bool carriage_returns = false;  ///< lines of subtitles end in CR LF

  bool whisper_cpp = false;  ///< JSON with "transcription", times in milliseconds
  output::JsonText json;
  std::string list_key;   ///< member that holds the segments; empty: the root is the list
  std::string loose_key;  ///< member that holds words outside segments; empty: none
  /// whisper.cpp: per segment, the first token of each word.
  std::vector<std::vector<std::size_t>> word_tokens;

  output::CueFile subtitles;
};

}  // namespace diarist

namespace diarist::output {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The list of segments in a document's tree.
const JsonNode& segment_list(const TranscriptDocument& document);

/// Fills both from JSON. \throws Error kBadFile.
void read_json_transcript(std::string_view text, const std::string& source, Transcript& transcript,
                          TranscriptDocument& document);

/// The segments of whisper.cpp's "transcription" list.
void read_whisper_cpp(const JsonNode& list, const std::string& source, Transcript& transcript,
                      TranscriptDocument& document);

/// Fill both from subtitles. \throws Error kBadFile with the line.
void read_srt(std::string_view text, const std::string& source, Transcript& transcript,
              TranscriptDocument& document);
void read_vtt(std::string_view text, const std::string& source, Transcript& transcript,
              TranscriptDocument& document);

/// The document with speakers, in the form that was read.
std::string json_transcript_text(const Transcript& transcript);

/// JSON of a transcript that was not read from JSON: segments as openai-whisper has them.
std::string plain_json_transcript_text(const Transcript& transcript);

/// A segment of whisper.cpp with speakers; of a piece, only its own tokens.
/// \param word_tokens the first token of each word of the original.
JsonNode labelled_whisper_cpp_segment(const JsonNode& original,
                                      const std::vector<std::size_t>& word_tokens,
                                      const TranscriptSegment& segment);

std::string srt_text(const Transcript& transcript, SpeakerStyle style);
std::string vtt_text(const Transcript& transcript);
std::string plain_transcript_text(const Transcript& transcript, SpeakerStyle style);

}  // namespace diarist::output
