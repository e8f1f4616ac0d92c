// Shaping of turns: each step by hand, and what must hold whatever is asked for.

#include "diarist/shaping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "diarist/error.hpp"
#include "diarist/formats.hpp"
#include "unit/output/format_results.hpp"
#include "unit/output/results.hpp"

namespace diarist {
namespace {

Diarization result_with(std::vector<Turn> turns, double duration = 20) {
  Diarization result;
  result.uri = "a";
  result.duration = duration;
  result.turns = std::move(turns);
  result.exclusive_turns = result.turns;
  for (const Turn& turn : result.turns) {
    while (static_cast<int>(result.speakers.size()) <= turn.speaker) {
      std::string name = "S";
      name += std::to_string(result.speakers.size());
      result.speakers.push_back({name, 0, {}});
    }
    result.speakers[static_cast<std::size_t>(turn.speaker)].speech_seconds += turn.end - turn.start;
  }
  return result;
}

std::string text_of(const std::vector<Turn>& turns, const std::vector<Speaker>& speakers) {
  std::string text;
  for (const Turn& turn : turns) {
    char line[100];
    std::snprintf(line, sizeof line, "%s%g-%g %s", text.empty() ? "" : ", ", turn.start, turn.end,
                  speakers.at(static_cast<std::size_t>(turn.speaker)).name.c_str());
    text += line;
  }
  return text;
}

std::string turns_of(const Diarization& result) { return text_of(result.turns, result.speakers); }
std::string exclusive_of(const Diarization& result) {
  return text_of(result.exclusive_turns, result.speakers);
}

TEST(Shaping, NothingAskedChangesNothing) {
  const Diarization result = test::small_result();
  EXPECT_EQ(to_json(shaped(result, {})), to_json(result));
}

TEST(Shaping, PausesShorterThanMinDurationOffAreFilledWhoeverTalks) {
  // Pauses of S0: 0.5 s with S1 inside, exactly 1 s, 0.9 s.
  const Diarization result =
      shaped(result_with({{0, 1, 0}, {1.1, 1.4, 1}, {1.5, 2, 0}, {3, 4, 0}, {4.9, 5, 0}}),
             {.min_duration_off = 1});
  EXPECT_EQ(turns_of(result), "0-2 S0, 1.1-1.4 S1, 3-5 S0");
  // Exclusive turns can't pass the other speaker.
  EXPECT_EQ(exclusive_of(result), "0-1 S0, 1.1-1.4 S1, 1.5-2 S0, 3-5 S0");
  EXPECT_DOUBLE_EQ(result.speakers[0].speech_seconds, 4);
  EXPECT_DOUBLE_EQ(result.speakers[1].speech_seconds, 1.4 - 1.1);
}

TEST(Shaping, ShortTurnsGoAfterPausesWereFilled) {
  // bug_recipes.md row 30: slivers. 20, 50, 100 and 250 ms of S1 inside a turn of S0.
  const std::vector<Turn> turns = {{0, 19, 0},   {1, 1.02, 1},  {3, 3.05, 1},  {5, 5.1, 1},
                                   {7, 7.25, 1}, {9, 9.125, 1}, {9.25, 9.5, 1}};
  EXPECT_EQ(turns_of(shaped(result_with(turns), {.min_duration_on = 0.06})),
            "0-19 S0, 5-5.1 S1, 7-7.25 S1, 9-9.125 S1, 9.25-9.5 S1");
  EXPECT_EQ(turns_of(shaped(result_with(turns), {.min_duration_off = 0.2, .min_duration_on = 0.3})),
            "0-19 S0, 9-9.5 S1");
  // A turn of just that length stays.
  EXPECT_EQ(turns_of(shaped(result_with(turns), {.min_duration_on = 0.25})),
            "0-19 S0, 7-7.25 S1, 9.25-9.5 S1");
  // Speakers without a turn are gone, in every output.
  const Diarization alone = shaped(result_with(turns), {.min_duration_on = 1});
  EXPECT_EQ(turns_of(alone), "0-19 S0");
  ASSERT_EQ(alone.speakers.size(), 1U);
  for (const FormatInfo& info : formats()) {
    EXPECT_EQ(to_text(alone, info.format).find("S1"), std::string::npos) << info.name;
  }
}

TEST(Shaping, MergeGapLeavesPausesInWhichSomebodyElseTalks) {
  const Diarization result =
      shaped(result_with({{0, 1, 0}, {1.5, 2, 0}, {2.1, 2.3, 1}, {2.5, 3, 0}, {4.5, 5, 0}}),
             {.merge_gap = 1});
  EXPECT_EQ(turns_of(result), "0-2 S0, 2.1-2.3 S1, 2.5-3 S0, 4.5-5 S0");
  // A long turn of somebody else counts wherever it began.
  EXPECT_EQ(turns_of(shaped(result_with({{0, 9, 1}, {1, 2, 0}, {2.5, 3, 0}}), {.merge_gap = 1})),
            "0-9 S1, 1-2 S0, 2.5-3 S0");
}

TEST(Shaping, PadStaysInsideAndJoinsWhatMeets) {
  const Diarization result =
      shaped(result_with({{0.25, 1, 0}, {2, 3, 1}, {4, 5, 0}, {5.75, 6, 0}, {19.75, 20, 0}}),
             {.pad = 0.5});
  EXPECT_EQ(turns_of(result), "0-1.5 S0, 1.5-3.5 S1, 3.5-6.5 S0, 19.25-20 S0");
  // Exclusive turns of two speakers meet in the middle of the pause.
  EXPECT_EQ(exclusive_of(shaped(result_with({{1, 2, 0}, {2.5, 3, 1}, {3.25, 4, 1}}), {.pad = 1})),
            "0-2.25 S0, 2.25-5 S1");
  EXPECT_EQ(turns_of(shaped(result_with({{1, 2, 0}, {2.5, 3, 1}}), {.pad = 1})),
            "0-3 S0, 1.5-4 S1");
  // Without a known duration there is no end to stop at.
  EXPECT_EQ(turns_of(shaped(result_with({{1, 2, 0}}, 0), {.pad = 0.5})), "0.5-2.5 S0");
}

TEST(Shaping, ExclusiveTurnsTakeThePlaceOfTurns) {
  Diarization result = test::small_result();
  result = shaped(result, {.exclusive = true});
  EXPECT_EQ(turns_of(result), "0.0309687-2 SPEAKER_00, 2-4.25 SPEAKER_01, 10-29.9996 SPEAKER_00");
  EXPECT_DOUBLE_EQ(result.speakers[0].speech_seconds, (2.0 - 0.03096875) + (29.9996 - 10));
  EXPECT_EQ(to_rttm(result), to_rttm(result, true));
}

TEST(Shaping, NamesInOrderAndByName) {
  const Diarization result = result_with({{0, 1, 0}, {2, 3, 1}, {4, 5, 2}, {4.5, 6, 0}});
  EXPECT_EQ(turns_of(shaped(result, {.names = {"Anna", "Ben"}})),
            "0-1 Anna, 2-3 Ben, 4-5 S2, 4.5-6 Anna");
  const Diarization more = shaped(result, {.names = {"A", "B", "C", "D"}});
  ASSERT_EQ(more.warnings.size(), 1U);
  EXPECT_EQ(more.warnings[0], "name 'D' is not used: 3 speakers were found");
  // Names may change places, and two speakers with one name become one.
  EXPECT_EQ(turns_of(shaped(result, {.renames = {{"S0", "S1"}, {"S1", "S0"}}})),
            "0-1 S1, 2-3 S0, 4-5 S2, 4.5-6 S1");
  const Diarization joined = shaped(result, {.renames = {{"S2", "S0"}, {"S9", "X"}}});
  EXPECT_EQ(turns_of(joined), "0-1 S0, 2-3 S1, 4-6 S0");
  EXPECT_DOUBLE_EQ(joined.speakers[0].speech_seconds, 3);
  ASSERT_EQ(joined.warnings.size(), 1U);
  EXPECT_EQ(joined.warnings[0], "name 'X' is not used: there is no speaker 'S9'");
}

TEST(Shaping, SettingsSayWhatWasDone) {
  const nlohmann::json json = nlohmann::json::parse(to_json(
      shaped(test::small_result(), {.names = {"Anna"}, .min_duration_on = 0.25, .pad = 0.1})));
  EXPECT_EQ(json["settings"]["shaping"], (nlohmann::json{{"min_duration_off", 0.0},
                                                         {"min_duration_on", 0.25},
                                                         {"merge_gap", 0.0},
                                                         {"pad", 0.1},
                                                         {"exclusive", false},
                                                         {"names", {{"SPEAKER_00", "Anna"}}}}));
}

TEST(Shaping, WhatCanNotBeMeantIsRefused) {
  const Diarization result = test::small_result();
  for (const TurnShaping& shaping :
       std::vector<TurnShaping>{{.min_duration_off = -1},
                                {.min_duration_on = std::nan("")},
                                {.merge_gap = HUGE_VAL},
                                {.pad = -0.1},
                                {.names = {"A", ""}},
                                {.renames = {{"SPEAKER_00", ""}}},
                                {.names = {"A"}, .renames = {{"SPEAKER_00", "B"}}}}) {
    try {
      shaped(result, shaping);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    }
  }
}

void expect_well_formed(const Diarization& result, const TurnShaping& shaping) {
  std::vector<double> last(result.speakers.size(), -1);
  std::vector<double> seconds(result.speakers.size(), 0);
  double before = 0;
  for (const Turn& turn : result.turns) {
    ASSERT_LT(static_cast<std::size_t>(turn.speaker), result.speakers.size());
    double& end = last[static_cast<std::size_t>(turn.speaker)];
    EXPECT_GE(turn.start, before);
    EXPECT_LT(turn.start, turn.end);
    EXPECT_LE(turn.end, result.duration);
    EXPECT_GT(turn.start, end);  // neither overlaps nor touches
    EXPECT_GE(turn.end - turn.start, shaping.min_duration_on);
    end = turn.end;
    before = turn.start;
    seconds[static_cast<std::size_t>(turn.speaker)] += turn.end - turn.start;
  }
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    EXPECT_GT(seconds[i], 0);
    EXPECT_NEAR(result.speakers[i].speech_seconds, seconds[i], 1e-9);
  }
  double end = 0;
  for (const Turn& turn : result.exclusive_turns) {
    EXPECT_GE(turn.start, end);
    EXPECT_LT(turn.start, turn.end);
    EXPECT_LE(turn.end, result.duration);
    end = turn.end;
  }
}

TEST(Shaping, WhateverIsAskedTurnsStayWellFormedAndAlikeInEveryFormat) {
  std::mt19937 draw(77);
  const auto number = [&] {
    return draw() % 3 == 0 ? 0.0 : static_cast<double>(draw() % 2000) / 700;
  };
  for (int round = 0; round < 500; ++round) {
    Diarization result = test::random_result(draw);
    std::vector<RttmTurn> turns;
    for (const Turn& turn : result.turns) {
      turns.push_back({turn.start, turn.end - turn.start,
                       result.speakers[static_cast<std::size_t>(turn.speaker)].name});
    }
    // Exclusive turns by the rule for turns without scores.
    result = to_diarization(result.uri, turns, result.duration);
    const TurnShaping shaping = {.min_duration_off = number(),
                                 .min_duration_on = number() / 4,
                                 .merge_gap = number(),
                                 .pad = number(),
                                 .exclusive = draw() % 2 == 0};
    const Diarization once = shaped(result, shaping);
    expect_well_formed(once, shaping);
    for (const FormatInfo& info : formats()) {
      if (!info.has_reader) continue;
      const Diarization read =
          parse_results(to_text(once, info.format), info.format, "text", once.uri).at(0);
      test::expect_same_turns(read, once, 0.0021);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace diarist
