#pragma once
// Short forms for tests of transcripts.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "diarist/error.hpp"
#include "diarist/transcripts.hpp"

namespace diarist::test {

/// Text, labelled and written again in its own format.
inline std::string labelled(std::string_view text, const std::vector<RttmTurn>& turns,
                            const LabelOptions& options = {}) {
  const Transcript transcript = label_transcript(parse_transcript(text, "t"), turns, options);
  return write_transcript(transcript, transcript.format);
}

/// Text, read and written again without labels.
inline std::string again(std::string_view text) {
  const Transcript transcript = parse_transcript(text, "t");
  return write_transcript(transcript, transcript.format);
}

/// Expects a kBadFile whose text has the given part.
inline void expect_bad(std::string_view text, const std::string& part) {
  try {
    parse_transcript(text, "t");
    ADD_FAILURE() << "no error for " << text.substr(0, 200);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadFile);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

/// Speakers of all segments, in order.
inline std::vector<std::string> speakers(const Transcript& transcript) {
  std::vector<std::string> names;
  for (const TranscriptSegment& segment : transcript.segments) names.push_back(segment.speaker);
  return names;
}

/// Speakers of a segment's words.
inline std::vector<std::string> word_speakers(const TranscriptSegment& segment) {
  std::vector<std::string> names;
  for (const TranscriptWord& word : segment.words) names.push_back(word.speaker);
  return names;
}

}  // namespace diarist::test
