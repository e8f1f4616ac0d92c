// The table for a terminal: its text, its width, its picture.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "diarist/formats.hpp"
#include "output/terminal_text.hpp"
#include "unit/output/results.hpp"

namespace diarist {
namespace {

TEST(Table, ShowsTurnsTotalsAndPicture) {
  Diarization result;
  result.uri = "meeting";
  result.duration = 40;
  result.turns = {{0, 10, 0}, {15, 30.5, 1}};
  result.speakers = {{"A", 10, {}}, {"B", 15.5, {}}};
  result.settings.preset = "open";
  EXPECT_EQ(to_table(result, 42, true),
            "meeting\n"
            "0:40.000, 2 speakers, 2 turns, preset open\n"
            "\n"
            "   start       end    length  speaker\n"
            "0:00.000  0:10.000  0:10.000  A\n"
            "0:15.000  0:30.500  0:15.500  B\n"
            "\n"
            "  speech    share  turns  speaker\n"
            "0:10.000   25.0 %      1  A\n"
            "0:15.500   38.8 %      1  B\n"
            "\n"
            "A ##########..............................\n"
            "B ...............################.........\n"
            "  |0:00          |0:15          |0:30\n");
}

TEST(Table, BlocksShowHowMuchOfACellIsFilled) {
  Diarization result;
  result.duration = 38;
  result.speakers = {{"A", 1.5, {}}};
  result.turns = {{1, 2, 0}, {3, 3.5, 0}, {5, 5.01, 0}};
  const std::string table = to_table(result, 40);
  EXPECT_NE(table.find("A ·█·▄·▁··"), std::string::npos) << table;
  EXPECT_NE(to_table(result, 40, true).find("A .#.#.-.."), std::string::npos);
}

TEST(Table, NoSpeechIsSaid) {
  Diarization result;
  result.uri = "silence";
  result.duration = 60;
  EXPECT_EQ(to_table(result), "silence: 1:00.000, 0 speakers, 0 turns\nNo speech found.\n");
}

TEST(Table, IsNeverWiderThanTheTerminal) {
  std::mt19937 draw(17);
  for (int round = 0; round < 60; ++round) {
    Diarization result = test::random_result(draw);
    if (round % 3 == 0) result.duration = 0;
    if (round % 4 == 0)
      result.speakers[0].name = "a name that is longer than any lane of a picture";
    if (round % 5 == 0) result.uri = std::string(200, 'u');
    if (round % 6 == 0) {
      for (Turn& turn : result.turns) {
        turn.start += 40000;
        turn.end += 40000;
      }
      result.duration = 0;
    }
    const int columns = 40 + static_cast<int>(draw() % 100);
    for (const bool ascii : {false, true}) {
      const std::string table = to_table(result, columns, ascii);
      std::istringstream lines(table);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(output::text_width(line), columns) << line;
      }
      if (ascii) {
        EXPECT_TRUE(std::all_of(table.begin(), table.end(), [](char c) {
          return c == '\n' || (c >= 0x20 && c < 0x7F);
        })) << table;
      }
    }
  }
}

TEST(Table, NothingInANameSteersTheTerminal) {
  Diarization result = test::small_result();
  result.uri = "a\x1B[31mred\nb\xC2\x9B";
  result.speakers[0].name = "x\x07\x1B]0;title";
  const std::string table = to_table(result);
  EXPECT_EQ(table.find('\x1B'), std::string::npos);
  EXPECT_EQ(table.find('\x07'), std::string::npos);
  EXPECT_NE(table.find("a?[31mred?b?"), std::string::npos) << table;
}

TEST(TerminalText, CutsAtCodePoints) {
  EXPECT_EQ(output::shown("日本語", 3, false), "日本語");
  EXPECT_EQ(output::shown("日本語", 2, false), "日…");
  EXPECT_EQ(output::shown("abc", 1, true), "~");
}

}  // namespace
}  // namespace diarist
