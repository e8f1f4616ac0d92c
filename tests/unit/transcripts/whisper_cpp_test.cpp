// JSON of whisper.cpp, in the layout that its output_json() writes.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "transcripts.hpp"

namespace diarist::test {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

const std::vector<RttmTurn> kTurns = {{0, 2, "Anna"}, {2, 2, "Bob"}};

std::string token(const std::string& text, int from, int to, int id = 7) {
  const auto clock = [](int time) {
    std::string start = "00:00:0" + std::to_string(time / 1000) + ",";
    return start + std::to_string(1000 + time % 1000).substr(1);
  };
  std::string result = "{\"text\": \"";
  result.append(text).append("\", ");
  if (from >= 0) {
    result.append("\"timestamps\": {\"from\": \"").append(clock(from));
    result.append("\", \"to\": \"").append(clock(to)).append("\"}, ");
    result.append("\"offsets\": {\"from\": ").append(std::to_string(from));
    result.append(", \"to\": ").append(std::to_string(to)).append("}, ");
  }
  return result + "\"id\": " + std::to_string(id) + ", \"p\": 0.950, \"t_dtw\": -1}";
}

std::string document(const std::string& text, const std::vector<std::string>& tokens) {
  std::string result =
      R"({"systeminfo": "x", "result": {"language": "en"}, "transcription": [{"timestamps": )"
      R"({"from": "00:00:00,000", "to": "00:00:04,000"}, "offsets": {"from": 0, "to": 4000}, )"
      R"("text": ")";
  result.append(text).append("\", \"tokens\": [");
  for (std::size_t i = 0; i < tokens.size(); ++i) result += (i > 0 ? ", " : "") + tokens[i];
  return result + "]}]}";
}

TEST(WhisperCpp, TokensMakeWordsAndSplitSegments) {
  const std::string text =
      document(" Hello, Bob. Hi.",
               {token("[_BEG_]", 0, 0), token(" Hel", 0, 500), token("lo", 500, 900),
                token(",", 900, 900), token(" Bob", 1000, 1800), token(".", 1800, 1900),
                token(" Hi", 2100, 2600), token(".", 2600, 2700), token("[_TT_200]", 4000, 4000)});
  const Transcript read = parse_transcript(text, "t");
  ASSERT_EQ(read.segments.at(0).words.size(), 3U);
  EXPECT_EQ(read.segments[0].words[0].text, " Hello,");
  EXPECT_EQ(read.segments[0].words[0].end, 0.9);
  EXPECT_EQ(read.segments[0].words[2].start, 2.1);
  EXPECT_EQ(again(text), text + "\n");

  const json out = json::parse(labelled(text, kTurns));
  const json& list = out["transcription"];
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["speaker"], "Anna");
  EXPECT_EQ(list[0]["text"], " Hello, Bob.");
  EXPECT_EQ(list[0]["tokens"].size(), 6U);
  EXPECT_FALSE(list[0]["tokens"][0].contains("speaker"));
  EXPECT_EQ(list[0]["tokens"][3]["speaker"], "Anna");
  EXPECT_EQ(list[0]["offsets"], json::parse(R"({"from": 0, "to": 1900})"));
  EXPECT_EQ(list[1]["text"], " Hi.");
  EXPECT_EQ(list[1]["timestamps"],
            json::parse(R"({"from": "00:00:02,100", "to": "00:00:04,000"})"));
  EXPECT_EQ(list[1]["offsets"], json::parse(R"({"from": 2100, "to": 4000})"));
  EXPECT_EQ(list[1]["tokens"].size(), 3U);
}

// 日 is E6 97 A5 and 本 E6 9C AC; the tokens cut 本 in two, as whisper.cpp does.
TEST(WhisperCpp, CharactersMayBeSpreadOverTokens) {
  const std::string text = document(
      "日本。はい", {token("日", 0, 500), token("\xE6\x9C", 500, 700), token("\xAC", 700, 1000),
                     token("。", 1000, 1000), token("はい", 2500, 3000)});
  const Transcript read = parse_transcript(text, "t");
  Names words;
  for (const TranscriptWord& word : read.segments.at(0).words) words.push_back(word.text);
  EXPECT_EQ(words, (Names{"日", "本。", "はい"}));
  EXPECT_EQ(read.warnings.size(), 1U);
  const json list = json::parse(labelled(text, kTurns))["transcription"];
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["text"], "日本。");
  EXPECT_EQ(list[1]["text"], "はい");
}

TEST(WhisperCpp, WithoutTokensSegmentsGoByOverlap) {
  const json out = json::parse(labelled(
      R"({"transcription": [{"timestamps": {"from": "00:00:01,000", "to": "00:00:03,500"}, )"
      R"("offsets": {"from": 1000, "to": 3500}, "text": " a"}, )"
      R"({"timestamps": {"from": "00:00:00,000", "to": "00:00:01,000"}, "text": " b"}]})",
      kTurns));
  EXPECT_EQ(out["transcription"][0]["speaker"], "Bob");
  EXPECT_EQ(out["transcription"][1]["speaker"], "Anna");
}

TEST(WhisperCpp, TokensWithoutTimesInherit) {
  const Transcript transcript = label_transcript(
      parse_transcript(document(" a b", {token(" a", -1, 0), token(" b", 2500, 3000)}), "t"),
      kTurns);
  EXPECT_EQ(speakers(transcript), Names{"Bob"});
}

TEST(WhisperCpp, BadOnesAreRefusedWithTheirPlace) {
  expect_bad(R"({"transcription": [5]})", "transcription[0] must be an object");
  expect_bad(R"({"transcription": [{"offsets": {"from": "x"}}]})",
             "transcription[0].offsets.from is text");
  expect_bad(R"({"transcription": [{"timestamps": {"to": "1s"}}]})",
             "transcription[0].timestamps.to must be a time");
  expect_bad(R"({"transcription": [{"tokens": {}}]})", "transcription[0].tokens must be a list");
  expect_bad(R"({"transcription": [{"tokens": [{}, "a"]}]})",
             "transcription[0].tokens[1] must be an object");
  expect_bad(R"({"transcription": [{"text": 5}]})", "transcription[0].text must be text");
}

}  // namespace
}  // namespace diarist::test
