// Whatever the writer, the turns are the same, lie inside the recording and have a length.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "diarist/formats.hpp"
#include "output/number_text.hpp"
#include "unit/output/results.hpp"

namespace diarist {
namespace {

using TurnText = std::tuple<std::string, std::string, std::string>;  // start, end, speaker

// Fields of the lines between the first header with "start" and the next empty line.
std::vector<TurnText> turns_of_table(const std::string& table) {
  std::istringstream lines(table);
  std::vector<TurnText> turns;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() && inside) break;
    std::istringstream fields(line);
    std::string start, end, length, speaker;
    fields >> start >> end >> length >> speaker;
    if (inside) turns.emplace_back(start, end, speaker);
    inside = inside || start == "start";
  }
  return turns;
}

void expect_same_turns(const Diarization& result) {
  const RttmFile rttm = parse_rttm(to_rttm(result), "rttm");
  const std::vector<RttmTurn> turns = rttm.empty() ? std::vector<RttmTurn>{} : rttm.begin()->second;
  const nlohmann::json json = nlohmann::json::parse(to_json(result));
  const std::vector<TurnText> table = turns_of_table(to_table(result, 120));
  ASSERT_EQ(turns.size(), result.turns.size());
  ASSERT_EQ(json["turns"].size(), result.turns.size());
  ASSERT_EQ(table.size(), result.turns.size());
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const nlohmann::json& turn = json["turns"][i];
    const std::string speaker = turn["speaker"];
    const double start = turn["start"];
    const double end = turn["end"];
    const double rttm_end = turns[i].start + turns[i].duration;
    EXPECT_EQ(turns[i].label, speaker);
    EXPECT_EQ(turns[i].start, start);
    // RTTM rounds the length and JSON the end (spec/pipeline.md section 14).
    EXPECT_NEAR(rttm_end, end, 0.001 + 1e-9);
    EXPECT_LT(start, end);
    EXPECT_GT(turns[i].duration, 0);
    // Rounding down at the end of the recording moves an end by less than 1 ms; a turn that would
    // then have no length begins 1 ms before that.
    const bool cut = result.duration > 0 && result.turns[i].end + 0.001 > result.duration;
    EXPECT_NEAR(start, result.turns[i].start, cut ? 0.002 : 0.0005 + 1e-9);
    EXPECT_NEAR(end, result.turns[i].end, cut ? 0.001 : 0.0005 + 1e-9);
    if (result.duration > 0) {
      EXPECT_LE(end, result.duration);
      EXPECT_LE(rttm_end, result.duration + 1e-12);
    }
    EXPECT_EQ(table[i], TurnText(output::clock_text(output::rounded_milliseconds(start)),
                                 output::clock_text(output::rounded_milliseconds(end)), speaker));
  }
}

TEST(SameTurns, InEveryFormat) {
  std::mt19937 draw(23);
  for (int round = 0; round < 200; ++round) {
    Diarization result = test::random_result(draw);
    expect_same_turns(result);
    if (HasFatalFailure()) return;
  }
}

TEST(SameTurns, AtTheVeryEndOfARecording) {
  Diarization result;
  result.uri = "a";
  result.speakers = {{"S", 0, {}}};
  // 136.640312 s is 2,186,245 samples; all offsets of a last turn of a few samples.
  for (int samples = 2186240; samples < 2186260; ++samples) {
    result.duration = samples / 16000.0;
    for (int length = 1; length < 40; ++length) {
      result.turns = {{(samples - length) / 16000.0, result.duration, 0}};
      expect_same_turns(result);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace diarist
