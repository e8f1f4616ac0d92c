// What counts as which kind of change, and in which order changes are told.

#include "diarist/turn_diff.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "diarist/error.hpp"

namespace diarist {
namespace {

using Turns = std::vector<RttmTurn>;

DiffReport diff(const Turns& before, const Turns& after, const DiffOptions& options = {}) {
  return diff_turns({{"a", before}}, {{"a", after}}, options);
}

void expect_change(const TurnChange& change, ChangeKind kind, double start, double end,
                   const std::optional<std::string>& before,
                   const std::optional<std::string>& after) {
  EXPECT_STREQ(name_of(change.kind), name_of(kind));
  EXPECT_NEAR(change.start, start, 1e-12);
  EXPECT_NEAR(change.end, end, 1e-12);
  EXPECT_EQ(change.before, before);
  EXPECT_EQ(change.after, after);
}

TEST(TurnDiff, RenamedSpeakersAreNoChange) {
  const DiffReport report = diff({{0, 5, "A"}, {5, 5, "B"}}, {{0, 5, "y"}, {5, 5, "x"}});
  EXPECT_TRUE(report.changes.empty());
  EXPECT_DOUBLE_EQ(report.same, 10);
  ASSERT_EQ(report.recordings.size(), 1U);
  EXPECT_EQ(report.recordings[0].mapping.at(0).hypothesis, "y");
  EXPECT_NE(to_table(report).find("no difference"), std::string::npos);

  DiffOptions by_name;
  by_name.by_name = true;
  const DiffReport named = diff({{0, 5, "A"}, {5, 5, "B"}}, {{0, 5, "B"}, {5, 5, "A"}}, by_name);
  ASSERT_EQ(named.changes.size(), 2U);
  expect_change(named.changes[0], ChangeKind::kSpeaker, 0, 5, "A", "B");
  expect_change(named.changes[1], ChangeKind::kSpeaker, 5, 10, "B", "A");
}

TEST(TurnDiff, AnotherSpeaker) {
  // 20-22 was A and is called y, who is B.
  const DiffReport report =
      diff({{0, 5, "A"}, {10, 5, "B"}, {20, 2, "A"}}, {{0, 5, "x"}, {10, 5, "y"}, {20, 2, "y"}});
  ASSERT_EQ(report.changes.size(), 1U);
  expect_change(report.changes[0], ChangeKind::kSpeaker, 20, 22, "A", "y");
  EXPECT_DOUBLE_EQ(report.seconds[static_cast<std::size_t>(ChangeKind::kSpeaker)], 2);
  EXPECT_DOUBLE_EQ(report.same, 10);
}

TEST(TurnDiff, AppearedAndVanished) {
  const DiffReport report = diff({{0, 5, "A"}, {10, 3, "B"}}, {{0, 5, "x"}, {20, 1, "x"}});
  ASSERT_EQ(report.changes.size(), 2U);
  expect_change(report.changes[0], ChangeKind::kVanished, 10, 13, "B", std::nullopt);
  expect_change(report.changes[1], ChangeKind::kAppeared, 20, 21, std::nullopt, "x");
}

TEST(TurnDiff, AMovedEndIsABoundaryAndAHoleIsNot) {
  const DiffReport shorter = diff({{0, 10, "A"}}, {{1, 8, "x"}});
  ASSERT_EQ(shorter.changes.size(), 2U);
  expect_change(shorter.changes[0], ChangeKind::kBoundary, 0, 1, "A", std::nullopt);
  expect_change(shorter.changes[1], ChangeKind::kBoundary, 9, 10, "A", std::nullopt);
  const DiffReport longer = diff({{2, 5, "A"}}, {{2, 6, "x"}});
  ASSERT_EQ(longer.changes.size(), 1U);
  expect_change(longer.changes[0], ChangeKind::kBoundary, 7, 8, std::nullopt, "x");
  const DiffReport hole = diff({{0, 10, "A"}}, {{0, 4, "x"}, {6, 4, "x"}});
  ASSERT_EQ(hole.changes.size(), 1U);
  expect_change(hole.changes[0], ChangeKind::kVanished, 4, 6, "A", std::nullopt);
}

TEST(TurnDiff, AHandoverAtAnotherTimeIsABoundary) {
  const DiffReport report = diff({{0, 10, "A"}, {10, 10, "B"}}, {{0, 8, "x"}, {8, 12, "y"}});
  ASSERT_EQ(report.changes.size(), 1U);
  expect_change(report.changes[0], ChangeKind::kBoundary, 8, 10, "A", "y");
}

TEST(TurnDiff, OneChangeGoesOnWhileOthersBeginAndEnd) {
  // A's 0-10 is gone; C comes in 2-4 and stays the same: one change for A.
  const DiffReport report =
      diff({{0, 10, "A"}, {2, 2, "C"}, {20, 5, "C"}}, {{2, 2, "z"}, {20, 5, "z"}});
  ASSERT_EQ(report.changes.size(), 1U);
  expect_change(report.changes[0], ChangeKind::kVanished, 0, 10, "A", std::nullopt);
}

TEST(TurnDiff, LongestFirstThenByRecordingAndTime) {
  const DiffReport report = diff_turns(
      {{"b", {{0, 1, "A"}}}, {"a", {{5, 1, "A"}, {0, 1, "A"}}}, {"c", {{0, 2, "A"}}}}, {});
  ASSERT_EQ(report.changes.size(), 4U);
  EXPECT_EQ(report.changes[0].uri, "c");
  EXPECT_EQ(report.changes[1].uri, "a");
  EXPECT_EQ(report.changes[1].start, 0);
  EXPECT_EQ(report.changes[2].start, 5);
  EXPECT_EQ(report.changes[3].uri, "b");
  EXPECT_EQ(report.only_before, (std::vector<std::string>{"a", "b", "c"}));
  const std::string table = to_table(report, 1);
  EXPECT_NE(table.find("and 3 shorter ones"), std::string::npos) << table;
}

TEST(TurnDiff, ShortChangesCanBeLeftOut) {
  DiffOptions options;
  options.min_seconds = 0.5;
  EXPECT_TRUE(diff({{0, 10, "A"}}, {{0.2, 9.8, "x"}}, options).changes.empty());
  EXPECT_EQ(diff({{0, 10, "A"}}, {{0.6, 9.4, "x"}}, options).changes.size(), 1U);
  options.min_seconds = std::nan("");
  EXPECT_THROW(diff({}, {}, options), Error);
}

TEST(TurnDiff, OwnOverlapsAndTouchingTurnsAreOneVoice) {
  EXPECT_TRUE(diff({{0, 6, "A"}, {4, 6, "A"}}, {{0, 5, "x"}, {5, 5, "x"}}).changes.empty());
}

TEST(TurnDiff, EmptySidesAreResults) {
  EXPECT_TRUE(diff_turns({}, {}).changes.empty());
  EXPECT_TRUE(diff({}, {}).changes.empty());
  EXPECT_EQ(diff({}, {{0, 1, "x"}}).changes.size(), 1U);
}

TEST(TurnDiff, JsonParses) {
  const DiffReport report = diff({{0, 5, "A \"1\""}, {10, 3, "B"}}, {{0, 5, "x"}, {20, 1, "x"}});
  const nlohmann::json parsed = nlohmann::json::parse(to_json(report, {}, 1));
  EXPECT_EQ(parsed["format"], "diarist.diff");
  EXPECT_EQ(parsed["identical"], false);
  EXPECT_EQ(parsed["changes"].size(), 1U);
  EXPECT_EQ(parsed["changes_in_all"], 2);
  EXPECT_EQ(parsed["changes"][0]["kind"], "vanished");
  EXPECT_TRUE(parsed["changes"][0]["after"].is_null());
  EXPECT_EQ(parsed["seconds"]["appeared"], 1.0);
  EXPECT_EQ(parsed["recordings"][0]["mapping"][0]["before"], "A \"1\"");
}

}  // namespace
}  // namespace diarist
