#pragma once
/// \file
/// Transcripts of speech recognizers, and which speaker said which word.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/export.hpp"
#include "diarist/formats.hpp"

namespace diarist {

/// One word, in seconds on the transcript's own clock.
struct TranscriptWord {
  std::optional<double> start;  ///< unset where the file has no time, null or NaN
  std::optional<double> end;
  std::string text;     ///< as in the file: Whisper's words begin with a blank
  std::string speaker;  ///< empty before label_transcript()
};

/// One segment or cue, or the piece of one that a single speaker said.
struct TranscriptSegment {
  std::optional<double> start;
  std::optional<double> end;
  std::string text;  ///< of cues without markup
  std::string speaker;
  std::vector<TranscriptWord> words;  ///< empty where the file has no words
  std::size_t origin = 0;             ///< index of the segment in the file that was read
  std::size_t first_word = 0;         ///< index of words[0] in that segment
};

/// kText is written only: a line per stretch of one speaker.
enum class TranscriptFormat { kJson, kSrt, kVtt, kText };

/// What was read, field by field; the writers use it to keep what they need not change.
struct TranscriptDocument;

/// What was said: words or cues with their times.
struct Transcript {
  TranscriptFormat format = TranscriptFormat::kJson;  ///< of the file that was read
  std::vector<TranscriptSegment> segments;            ///< in the order of the file
  /// Words that the file lists outside its segments (WhisperX: word_segments; OpenAI: words).
  std::vector<TranscriptWord> loose_words;
  std::vector<std::string> warnings;  ///< odd times, broken characters: what was made of them
  std::shared_ptr<const TranscriptDocument> document;  ///< null: not read from a file
};

/// Reads the text of a transcript, told by its content: JSON of openai-whisper, faster-whisper,
/// WhisperX or whisper.cpp; SRT; WebVTT. See docs/transcripts.md.
/// \param source name for messages.
/// \throws Error kBadFile with the place: line and column, or segments[3].words[1].start.
DIARIST_API Transcript parse_transcript(std::string_view text, const std::string& source);

/// Reads a file. \throws Error kNotFound, kBadFile.
DIARIST_API Transcript read_transcript(const std::filesystem::path& file);

/// How words get their speakers.
struct LabelOptions {
  double offset = 0;  ///< seconds; time in the turns = time in the transcript + offset
  /// Seconds. Where nobody speaks, the nearest turn that is no farther away counts.
  double max_distance = 0.5;
  bool split = true;  ///< cut segments where the speaker changes; else the longest voice counts
  /// A single word between two words of one other speaker, in one segment, becomes theirs.
  bool smooth = false;
  std::string unknown = "UNKNOWN";  ///< speaker where nobody speaks
};

/// Gives every word and segment a speaker. A word goes to the speaker who talks for most of it;
/// docs/transcripts.md has the rules for ties, gaps and words without times.
/// \throws Error kInvalidArgument for options that are not finite or negative, or an empty
/// `unknown`.
DIARIST_API Transcript label_transcript(Transcript transcript, const std::vector<RttmTurn>& turns,
                                        const LabelOptions& options = {});

/// How SRT and text name the speaker: "Anna: text" or "[Anna] text".
enum class SpeakerStyle { kColon, kBrackets };

/// Text of a transcript. In the format it was read from, everything that labelling does not touch
/// stays: fields, their order, numbers, layout; cue settings, ids, notes and styles.
/// \throws Error kInvalidArgument when segments do not fit the document they name.
DIARIST_API std::string write_transcript(const Transcript& transcript, TranscriptFormat format,
                                         SpeakerStyle style = SpeakerStyle::kColon);

}  // namespace diarist
