// SRT and WebVTT, and text.

#include <gtest/gtest.h>

#include "transcripts.hpp"

namespace diarist::test {
namespace {

using Names = std::vector<std::string>;

const std::vector<RttmTurn> kTurns = {{0, 2, "Anna"}, {2, 2, "Bob"}};

TEST(Srt, SpeakersStandInFrontAndTheRestStays) {
  const std::string text =
      "1\n00:00:00,500 --> 00:00:01,500\nHello\nBob.\n\n"
      "7\n0:00:02.000 --> 0:00:03.000  X1:10 X2:20\n{\\an8}<i>Hi</i> Anna\n\n"
      "8\n00:01:00,000 --> 00:01:01,000\n\n\n";
  EXPECT_EQ(labelled(text, kTurns),
            "1\n00:00:00,500 --> 00:00:01,500\nAnna: Hello\nBob.\n\n"
            "7\n0:00:02.000 --> 0:00:03.000  X1:10 X2:20\n{\\an8}Bob: <i>Hi</i> Anna\n\n"
            "8\n00:01:00,000 --> 00:01:01,000\n\n\n");
  EXPECT_EQ(again(text), text);
}

TEST(Srt, Brackets) {
  const Transcript transcript = label_transcript(
      parse_transcript("1\n00:00:00,500 --> 00:00:01,500\nHello\n\n", "t"), kTurns);
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::kSrt, SpeakerStyle::kBrackets),
            "1\n00:00:00,500 --> 00:00:01,500\n[Anna] Hello\n\n");
}

TEST(Srt, WindowsLinesAndByteOrderMarkStay) {
  const std::string text =
      "\xEF\xBB\xBF"
      "1\r\n00:00:00,500 --> 00:00:01,500\r\nHello\r\n\r\n";
  EXPECT_EQ(again(text), text);
}

TEST(Srt, LooseFilesAreRead) {
  // No numbers, no last line end, blank lines and numbers inside a text, an arrow in a text.
  const Transcript transcript = parse_transcript(
      "\n\n00:01,5 --> 00:02,25\nsay\n\n42\nnow\n-->\n\n3\n-00:00:01,000 --> 01:00:00\nend", "t");
  ASSERT_EQ(transcript.segments.size(), 2U);
  EXPECT_EQ(transcript.segments[0].start, 1.5);
  EXPECT_EQ(transcript.segments[0].end, 2.25);
  EXPECT_EQ(transcript.segments[0].text, "say\n\n42\nnow\n-->");
  EXPECT_EQ(transcript.segments[1].start, -1);
  EXPECT_EQ(transcript.segments[1].end, 3600);
  EXPECT_EQ(transcript.segments[1].text, "end");
}

TEST(Srt, BadOnesAreRefusedWithTheirLine) {
  expect_bad("1\n00:00:01,000 --> 00:00:0x\nHello\n", "line 2: damaged times");
  expect_bad("1\n00:00:01,000 --> 00:00:02,000\nHello\n\n2\n00:00:03 --> \nx\n",
             "line 6: damaged times");
  expect_bad("Title\n\n1\n00:00:01,000 --> 00:00:02,000\nHello\n", "line 1: text before");
  expect_bad("a --> b\n", "no line of times");
}

TEST(Srt, AnEndBeforeItsStartIsWarnedAbout) {
  const Transcript transcript =
      parse_transcript("1\n00:00:03,000 --> 00:00:02,000\nHello\n\n", "t");
  ASSERT_EQ(transcript.warnings.size(), 1U);
  EXPECT_NE(transcript.warnings[0].find("first at cue[0]"), std::string::npos);
}

constexpr const char* kVtt =
    "WEBVTT - a title\nKind: captions\n\n"
    "STYLE\n::cue { color: red }\n\n"
    "NOTE a remark\nof two lines\n\n"
    "first\n00:00.500 --> 00:01.500 align:start position:10%\n<i>Hello</i> &amp; welcome\n\n"
    "NOTE between\n\n"
    "01:00:02.000 --> 01:00:03.000\nHi\nAnna\n\n"
    "NOTE the end\n\n";

TEST(Vtt, VoicesAndTheRestStays) {
  std::string wanted = kVtt;
  wanted.replace(wanted.find("<i>Hello"), 0, "<v Anna>");
  wanted.replace(wanted.find("Hi\nAnna"), 0, "<v UNKNOWN>");
  EXPECT_EQ(labelled(kVtt, kTurns), wanted);
  EXPECT_EQ(again(kVtt), kVtt);
  EXPECT_EQ(parse_transcript(kVtt, "t").segments.at(0).text, "Hello & welcome");
}

TEST(Vtt, OldVoicesGiveWayAndNamesAreEscaped) {
  EXPECT_EQ(
      labelled("WEBVTT\n\n00:00.000 --> 00:01.000\n<v.loud X>Hello</v>\n", {{0, 1, "A & <B>"}}),
      "WEBVTT\n\n00:00.000 --> 00:01.000\n<v A &amp; &lt;B&gt;>Hello\n\n");
}

TEST(Vtt, TimesInsideACueAreWordTimes) {
  EXPECT_EQ(labelled("WEBVTT\n\nid\n00:00.000 --> 00:04.000 line:0\n"
                     "Hello<00:01.000><c> Bob.</c><00:02.500><c> Hi.</c>\n\n",
                     kTurns),
            "WEBVTT\n\nid\n00:00:00.000 --> 00:00:02.500 line:0\n"
            "<v Anna>Hello<00:01.000><c> Bob.</c>\n\n"
            "id-3\n00:00:02.500 --> 00:00:04.000 line:0\n<v Bob><00:02.500><c> Hi.</c>\n\n");
}

TEST(Vtt, TagsThatReachAcrossWordsKeepTheCueWhole) {
  EXPECT_EQ(labelled("WEBVTT\n\n00:00.000 --> 00:03.000\n<b>Hello<00:02.500> Hi.</b>\n\n", kTurns),
            "WEBVTT\n\n00:00.000 --> 00:03.000\n<v Anna><b>Hello<00:02.500> Hi.</b>\n\n");
}

TEST(Vtt, BadOnesAreRefusedWithTheirLine) {
  expect_bad("WEBVTT\n\n00:00.000 -> 00:01.000 --> x\nHello\n", "line 3: damaged times");
  expect_bad("WEBVTT\n\nid\n00:00 --> oh\n", "line 4: damaged times");
  expect_bad("WEBVTTX\n\n00:00.000\n", "no transcript with times");
}

TEST(Vtt, EmptyOnesAreFine) {
  EXPECT_EQ(again("WEBVTT"), "WEBVTT\n\n");
  EXPECT_EQ(again("WEBVTT\n\nNOTE nothing\n"), "WEBVTT\n\nNOTE nothing\n\n");
}

TEST(Conversion, BetweenSubtitlesTheWordsStay) {
  const Transcript transcript = label_transcript(parse_transcript(kVtt, "t"), kTurns);
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::kSrt),
            "1\n00:00:00,500 --> 00:00:01,500\nAnna: Hello & welcome\n\n"
            "2\n01:00:02,000 --> 01:00:03,000\nUNKNOWN: Hi\nAnna\n\n");
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::kText),
            "Anna: Hello & welcome\nUNKNOWN: Hi Anna\n");
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::kJson),
            "{\n  \"segments\": [\n    {\n      \"id\": 0,\n      \"start\": 0.5,\n"
            "      \"end\": 1.5,\n      \"text\": \"Hello & welcome\",\n"
            "      \"speaker\": \"Anna\"\n    },\n"
            "    {\n      \"id\": 1,\n      \"start\": 3602.0,\n      \"end\": 3603.0,\n"
            "      \"text\": \"Hi\\nAnna\",\n      \"speaker\": \"UNKNOWN\"\n    }\n  ]\n}\n");
}

TEST(Conversion, WhatWouldBreakACueIsMadeSafe) {
  Transcript transcript;
  transcript.segments.resize(2);
  transcript.segments[0].start = 1.0004;
  transcript.segments[0].end = 359999.9996;
  transcript.segments[0].text = " a <b> & c\n\n --> d";
  transcript.segments[0].speaker = "X\nY";
  transcript.segments[1].text = "later";
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::kSrt),
            "1\n00:00:01,000 --> 100:00:00,000\nX Y: a <b> & c\n-> d\n\n"
            "2\n100:00:00,000 --> 100:00:00,000\nlater\n\n");
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::kVtt),
            "WEBVTT\n\n00:00:01.000 --> 100:00:00.000\n<v X Y>a &lt;b&gt; &amp; c\n-&gt; d\n\n"
            "100:00:00.000 --> 100:00:00.000\nlater\n\n");
}

TEST(Conversion, StretchesOfOneSpeakerAreOneLineOfText) {
  const Transcript transcript = label_transcript(
      parse_transcript("1\n00:00:00,000 --> 00:00:01,000\na\n\n2\n00:00:01,000 --> "
                       "00:00:02,000\nb\nc\n\n3\n00:00:02,500 --> 00:00:03,000\nd\n",
                       "t"),
      kTurns);
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::kText), "Anna: a b c\nBob: d\n");
}

}  // namespace
}  // namespace diarist::test
