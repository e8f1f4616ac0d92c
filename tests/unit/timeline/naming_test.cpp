// diarist's own rules for turns: names by first turn, nothing past the end of the recording.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>
#include <tuple>

#include "timeline/grid.hpp"
#include "timeline/turns.hpp"

namespace diarist::timeline {
namespace {

double printed(double seconds) {
  return std::strtod(fmt::format("{:.3f}", seconds).c_str(), nullptr);
}

TEST(NameByFirstTurn, NumbersSpeakersAsTheyAppear) {
  const NamedTurns named = name_by_first_turn({{0.5, 2, 7}, {1, 3, 2}, {4, 5, 7}, {6, 7, 0}},
                                              {{0.5, 2, 7}, {6, 7, 0}}, 100);
  EXPECT_EQ(named.columns, (std::vector<int>{7, 2, 0}));
  ASSERT_EQ(named.turns.size(), 4U);
  EXPECT_EQ(named.turns[0].speaker, 0);
  EXPECT_EQ(named.turns[1].speaker, 1);
  EXPECT_EQ(named.turns[2].speaker, 0);
  EXPECT_EQ(named.turns[3].speaker, 2);
  EXPECT_EQ(named.exclusive_turns[1].speaker, 2);
}

TEST(NameByFirstTurn, ClampsAndDropsAtTheEnd) {
  const std::vector<Segment> segments = {{1, 12, 0}, {9.9, 11, 1}, {10, 11, 2}, {11, 12, 3}};
  const NamedTurns named = name_by_first_turn(segments, segments, 10);
  ASSERT_EQ(named.turns.size(), 2U);
  EXPECT_EQ(named.names.size(), 2U) << "speakers of dropped turns have no name";
  EXPECT_EQ(named.turns[0].end, 10);
  EXPECT_EQ(named.turns[1].end, 10);
  EXPECT_EQ(named.exclusive_turns.size(), 2U);
  EXPECT_EQ(name_by_first_turn(segments, {}, 0).turns.size(), 4U) << "unknown duration";
}

TEST(NameByFirstTurn, ClampedTurnsAreSortedAgain) {
  const NamedTurns named = name_by_first_turn({{1, 10.5, 4}, {1, 11, 3}}, {}, 10);
  ASSERT_EQ(named.turns.size(), 2U);
  EXPECT_EQ(named.columns, (std::vector<int>{4, 3}));
  EXPECT_LT(named.turns[0].speaker, named.turns[1].speaker);
}

// A recording of 136.640312 s: three decimals of its end lie past it.
TEST(NameByFirstTurn, RoundingDoesNotPassTheDuration) {
  const double duration = 2186245 / 16000.0;
  const NamedTurns named =
      name_by_first_turn({{Grid::middle(8000), Grid::middle(9000), 0}}, {}, duration);
  ASSERT_EQ(named.turns.size(), 1U);
  EXPECT_LE(printed(named.turns[0].end), duration);
  EXPECT_GT(named.turns[0].end, duration - 0.002);
}

// Every writer rounds start, end and length on its own; none may lead past the end.
TEST(NameByFirstTurn, NothingPrintedPassesTheDurationForAnyLength) {
  std::mt19937 engine(7);
  int shortened = 0;
  for (int i = 0; i < 20000; ++i) {
    const int frames = 2 + static_cast<int>(engine() % 5000);
    const double last = Grid::middle(frames);
    const double duration =
        static_cast<double>(engine() % static_cast<unsigned>(last * 16000 + 1)) /
        (i % 3 == 0 ? 16000.0 : 16001.0);
    const int from = static_cast<int>(engine() % static_cast<unsigned>(frames));
    const std::vector<Segment> segments = {{Grid::middle(from), last, 0}};
    const NamedTurns named = name_by_first_turn(segments, {}, duration);
    if (duration <= 0) continue;
    // Dropped only when no whole millisecond is left.
    if (named.turns.empty()) {
      EXPECT_GT(segments[0].start, duration - 0.003);
      continue;
    }
    const Turn& turn = named.turns[0];
    EXPECT_EQ(turn.start, segments[0].start);
    EXPECT_LT(turn.start, turn.end);
    EXPECT_LE(turn.end, duration);
    EXPECT_GE(turn.end, std::min(last, duration) - 0.003);
    EXPECT_LE(printed(turn.end), duration);
    EXPECT_LE(printed(turn.start) + printed(turn.end - turn.start), duration);
    EXPECT_GT(printed(turn.end - turn.start), 0);
    shortened += turn.end < std::min(last, duration) ? 1 : 0;
  }
  EXPECT_GT(shortened, 1000) << "the cases must meet the rule";
}

TEST(NameByFirstTurn, OrderAndNumbersHoldForRandomTurns) {
  std::mt19937 engine(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<Segment> segments;
    for (int i = 0; i < 30; ++i) {
      const int from = static_cast<int>(engine() % 40);
      segments.push_back({Grid::middle(from),
                          Grid::middle(from + 1 + static_cast<int>(engine() % 9)),
                          static_cast<int>(engine() % 6)});
    }
    const NamedTurns named = name_by_first_turn(segments, {}, Grid::middle(36));
    std::set<int> seen;
    for (std::size_t i = 0; i < named.turns.size(); ++i) {
      const Turn& turn = named.turns[i];
      if (i > 0) {
        EXPECT_LE(std::tie(named.turns[i - 1].start, named.turns[i - 1].end),
                  std::tie(turn.start, turn.end));
      }
      if (seen.insert(turn.speaker).second) {
        EXPECT_EQ(turn.speaker, static_cast<int>(seen.size()) - 1);
      }
    }
    EXPECT_EQ(seen.size(), named.names.size());
  }
}

}  // namespace
}  // namespace diarist::timeline
