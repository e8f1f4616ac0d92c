// JSON of openai-whisper, faster-whisper and WhisperX: what is read, what stays, what is refused.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "transcripts.hpp"

namespace diarist::test {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

const std::vector<RttmTurn> kTurns = {{0, 2, "Anna"}, {2, 2, "Bob"}};

TEST(TranscriptJson, WhatIsNotLabelledComesBackByteByByte) {
  for (
      const char* text :
      {// Python's json.dump of openai-whisper
       R"({"text": " Hi \u00e4.", "segments": [{"id": 0, "start": 0.0, "end": 1.10, "text": " Hi \u00e4.", "tokens": [50364, 1], "no_speech_prob": 1.50e-07, "avg_logprob": NaN, "x": -Infinity}], "language": "en"})",
       // dumped without spaces, characters as they are, large and long numbers
       "[{\"start\":0,\"end\":12345678901234567890123,\"text\":\"«ä» 日本\",\"words\":null,\"p\":0."
       "10000000000000000000001}]",
       // by jq, and with tabs
       "{\n  \"segments\": [\n    {\n      \"start\": 1e0,\n      \"end\": null,\n      \"a\": "
       "[],\n"
       "      \"b\": {}\n    }\n  ]\n}",
       "{\n\t\"segments\": [\n\t\t{\n\t\t\t\"text\": \"a\\\"b\\\\c\\n\"\n\t\t}\n\t]\n}",
       R"({"segments": []})"}) {
    if (std::string_view(text).find("12345678901234567890123") != std::string_view::npos) {
      expect_bad(text, "item[0].end is no time");
      continue;
    }
    EXPECT_EQ(again(text), std::string(text) + "\n");
  }
}

TEST(TranscriptJson, WordsGetSpeakersAndSegmentsAreSplit) {
  const char* text =
      R"({"segments": [{"id": 7, "start": 0.0, "end": 4.0, "text": " Hi you. Yes.", "tokens": [1], )"
      R"("words": [{"word": " Hi", "start": 0.50, "end": 1.0, "probability": 0.90}, )"
      R"({"word": " you.", "start": 1.0, "end": 1.70, "probability": 1}, )"
      R"({"word": " Yes.", "start": 2.10, "end": 2.5, "probability": 0.3}]}], "language": "en"})";
  EXPECT_EQ(
      labelled(text, kTurns),
      R"({"segments": [{"id": 7, "start": 0.0, "end": 1.70, "text": " Hi you.", "tokens": [1], )"
      R"("words": [{"word": " Hi", "start": 0.50, "end": 1.0, "probability": 0.90, "speaker": "Anna"}, )"
      R"({"word": " you.", "start": 1.0, "end": 1.70, "probability": 1, "speaker": "Anna"}], )"
      R"("speaker": "Anna"}, )"
      R"({"id": 7, "start": 2.10, "end": 4.0, "text": " Yes.", "tokens": [1], )"
      R"("words": [{"word": " Yes.", "start": 2.10, "end": 2.5, "probability": 0.3, "speaker": "Bob"}], )"
      R"("speaker": "Bob"}], "language": "en"})"
      "\n");
}

TEST(TranscriptJson, ASpeakerThatIsThereIsReplacedInItsPlace) {
  EXPECT_EQ(labelled(R"([{"speaker": "x", "start": 0, "end": 1, "text": "a"}])", kTurns),
            "[{\"speaker\": \"Anna\", \"start\": 0, \"end\": 1, \"text\": \"a\"}]\n");
}

TEST(TranscriptJson, NamesAreEscapedLikeTheRest) {
  const std::vector<RttmTurn> turns = {{0, 2, "Jürgen \"J\""}};
  EXPECT_EQ(labelled(R"([{"start": 0, "end": 1}])", turns),
            "[{\"start\": 0, \"end\": 1, \"speaker\": \"J\\u00fcrgen \\\"J\\\"\"}]\n");
  EXPECT_EQ(labelled(R"([{"start": 0, "end": 1, "text": "ä"}])", turns),
            "[{\"start\": 0, \"end\": 1, \"text\": \"ä\", \"speaker\": \"Jürgen \\\"J\\\"\"}]\n");
}

// WhisperX: words without blanks, numerals without times, the words once more, characters.
TEST(TranscriptJson, WhisperXKeepsItsListsInStep) {
  const char* text =
      R"({"segments": [{"start": 0, "end": 3, "text": "In 2019 no", "words": [)"
      R"({"word": "In", "start": 0.5, "end": 1, "score": 0.9}, {"word": "2019"}, )"
      R"({"word": "no", "start": 2.5, "end": 3}], "chars": [{"char": "I", "start": 0.5}, )"
      R"({"char": "n"}, {"char": " "}, {"char": "2"}, {"char": "0"}, {"char": "1"}, {"char": "9"}, )"
      R"({"char": " "}, {"char": "n"}, {"char": "o"}]}], "word_segments": [)"
      R"({"word": "In", "start": 0.5, "end": 1, "score": 0.9}, {"word": "2019"}, )"
      R"({"word": "no", "start": 2.5, "end": 3}]})";
  const json out = json::parse(labelled(text, kTurns));
  ASSERT_EQ(out["segments"].size(), 2U);
  EXPECT_EQ(out["segments"][0]["text"], "In 2019");
  EXPECT_EQ(out["segments"][1]["text"], "no");
  EXPECT_EQ(out["segments"][0]["words"][1]["speaker"], "Anna");
  EXPECT_EQ(out["segments"][0]["chars"].size(), 7U);
  EXPECT_EQ(out["segments"][1]["chars"], json::parse(R"([{"char": "n"}, {"char": "o"}])"));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(out["word_segments"][i]["speaker"], i < 2 ? "Anna" : "Bob") << i;
}

// OpenAI's service lists words beside the segments.
TEST(TranscriptJson, LooseWordsAreLabelledByTheirOwnTimes) {
  const json out = json::parse(labelled(
      R"({"segments": [{"start": 0, "end": 3, "text": "a b"}],)"
      R"("words": [{"word": "a", "start": 0, "end": 1}, {"word": "b", "start": 2.5, "end": 3}]})",
      kTurns));
  EXPECT_EQ(out["segments"][0]["speaker"], "Anna");
  EXPECT_EQ(out["words"][0]["speaker"], "Anna");
  EXPECT_EQ(out["words"][1]["speaker"], "Bob");
}

// Versions of faster-whisper before 1.1 have named tuples for words.
TEST(TranscriptJson, WordsMayBeTuples) {
  const json out = json::parse(labelled(
      R"([{"start": 0, "end": 3, "text": " a b", "words": [[0, 1, " a", 0.9], [2.5, 3, " b", 0.8]]}])",
      kTurns));
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[1]["words"], json::parse(R"([[2.5, 3, " b", 0.8]])"));
  EXPECT_EQ(out[1]["start"], 2.5);
  EXPECT_EQ(out[1]["text"], " b");
}

TEST(TranscriptJson, TimesMayBeMissingNullNanOrText) {
  const Transcript transcript = parse_transcript(
      R"({"segments": [{"start": null, "end": NaN, "text": "a", "words": [{"word": "a", )"
      R"("start": "NaN", "end": "1.5"}, {"word": "b", "start": -0.25, "end": ""}]}]})",
      "t");
  const TranscriptSegment& segment = transcript.segments.at(0);
  EXPECT_FALSE(segment.start || segment.end);
  EXPECT_FALSE(segment.words.at(0).start);
  EXPECT_EQ(segment.words.at(0).end, 1.5);
  EXPECT_EQ(segment.words.at(1).start, -0.25);
  EXPECT_FALSE(segment.words.at(1).end);
  EXPECT_TRUE(transcript.warnings.empty());
}

TEST(TranscriptJson, TimesInDisorderAreWarnedAbout) {
  const Transcript transcript = parse_transcript(
      R"({"segments": [{"start": 5, "end": 6, "words": [{"word": "a", "start": 5, "end": 4},)"
      R"({"word": "b", "start": 1, "end": 0}]}, {"start": 1, "end": 2}]})",
      "t");
  ASSERT_EQ(transcript.warnings.size(), 1U);
  EXPECT_NE(transcript.warnings[0].find("2 times end before they start (first at "
                                        "segments[0].words[0])"),
            std::string::npos)
      << transcript.warnings[0];
}

TEST(TranscriptJson, BadOnesAreRefusedWithTheirPlace) {
  expect_bad("", "is empty");
  expect_bad(" \r\n", "is empty");
  expect_bad("{", "line 1, column 2");
  expect_bad("{\"segments\": [{}],}", "line 1, column 19");
  expect_bad("{\"text\": \"hello\"}", "no list of segments");
  expect_bad("{\"segments\": 5}", "no list of segments");
  expect_bad("[[0, 0, 0.0, 1.0]]", "item[0] must be an object");
  expect_bad(R"({"segments": [{}, 5]})", "segments[1] must be an object");
  expect_bad(R"({"segments": [{"start": "soon"}]})", "segments[0].start is text");
  expect_bad(R"({"segments": [{"start": [1]}]})", "segments[0].start is a list");
  expect_bad(R"({"segments": [{"end": true}]})", "segments[0].end is true or false");
  expect_bad(R"({"segments": [{"end": Infinity}]})", "segments[0].end is no time");
  expect_bad(R"({"segments": [{"end": 1e999}]})", "no valid JSON");
  expect_bad(R"({"segments": [{"text": 5}]})", "segments[0].text must be text");
  expect_bad(R"({"segments": [{"words": 5}]})", "segments[0].words must be a list");
  expect_bad(R"({"segments": [{"words": [{}, 7]}]})", "segments[0].words[1] must be an object");
  expect_bad(R"({"segments": [{"words": [{"start": {}}]}]})",
             "segments[0].words[0].start is an object");
  expect_bad("{\"a\": " + std::string(100000, '[') + std::string(100000, ']') + "}", "nested");
  expect_bad(std::string("{\"a\": \"\0\", }", 12), "no valid JSON");
  expect_bad("\xFF\xFE{\0", "UTF-16");
  expect_bad("hello", "no transcript with times");
}

TEST(TranscriptJson, BrokenCharactersAreKeptApart) {
  const std::string text = "[{\"start\": 0, \"text\": \"a\xE6\x97 \xFF\"}]";
  const Transcript transcript = parse_transcript(text, "t");
  EXPECT_EQ(transcript.segments.at(0).text, "a\xE6\x97 \xFF");
  ASSERT_EQ(transcript.warnings.size(), 1U);
  EXPECT_NE(transcript.warnings[0].find("3 bytes are no UTF-8"), std::string::npos);
  // Valid JSON comes out: U+FFFD where characters are broken.
  const json out = json::parse(write_transcript(transcript, TranscriptFormat::kJson));
  EXPECT_EQ(out[0]["text"].get<std::string>().substr(0, 4), "a\xEF\xBF\xBD");
}

TEST(TranscriptJson, CharactersOfThePrivatePlaneSurviveBesideBrokenOnes) {
  // U+10FF01, U+10FF80 and U+10FFFF, which stand for other things while such a text is parsed.
  const std::string rare = "\xF4\x8F\xBC\x81NaN \xF4\x8F\xBE\x80 \xF4\x8F\xBF\xBF";
  std::string text = "[{\"text\": \"";
  text.append(rare).append("\", \"p\": NaN, \"q\": \"\x80\"}]");
  EXPECT_EQ(parse_transcript(text, "t").segments.at(0).text, rare);
}

TEST(TranscriptJson, ByteOrderMarkAndControlCharacters) {
  EXPECT_EQ(again("\xEF\xBB\xBF[{\"text\": \"a\tb\"}]"), "\xEF\xBB\xBF[{\"text\": \"a\\tb\"}]\n");
}

TEST(TranscriptJson, SegmentsThatDoNotFitTheirDocumentAreRefused) {
  Transcript transcript = parse_transcript(R"([{"start": 0, "words": [{"word": "a"}]}])", "t");
  transcript.segments[0].first_word = 1;
  EXPECT_THROW(write_transcript(transcript, TranscriptFormat::kJson), Error);
  transcript.segments[0].first_word = 0;
  transcript.segments[0].origin = 1;
  EXPECT_THROW(write_transcript(transcript, TranscriptFormat::kJson), Error);
}

}  // namespace
}  // namespace diarist::test
