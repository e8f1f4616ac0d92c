#include "terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "progress_text.hpp"

namespace diarist::cli {
namespace {

// Widths of East Asian Width (UAX 11): W and F are 2, combining marks 0.
TEST(Terminal, WidthsAreThoseOfTheCharacters) {
  EXPECT_EQ(width_of("plain"), 5);
  EXPECT_EQ(width_of("größe"), 5);
  EXPECT_EQ(width_of("日本語"), 6);
  EXPECT_EQ(width_of("e\xCC\x81"), 1);  // e and a combining acute
  EXPECT_EQ(width_of("\xFF\xFE"), 2);   // no characters
}

TEST(Terminal, CutsFallBetweenCharacters) {
  EXPECT_EQ(shortened("meeting.wav", 11), "meeting.wav");
  EXPECT_EQ(shortened("meeting.wav", 10), "meeting...");
  EXPECT_EQ(shortened("日本語の会議", 8), "日本...");  // 4 + 3; the next one would make 9
  EXPECT_EQ(shortened("e\xCC\x81t\xC3\xA9 long", 5), "e\xCC\x81t...");
  EXPECT_EQ(shortened("a\x1b[31m\n\xFFz", 80), "a?[31m??z");
  EXPECT_EQ(shortened("long", 2), "..");
  EXPECT_EQ(shortened("long", 0), "");
  EXPECT_EQ(shortened("", 5), "");
}

TEST(Terminal, WordsAreWrapped) {
  EXPECT_EQ(wrapped("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrapped("averyveryverylongword x", 8, 2), "averyveryverylongword\n  x");
  EXPECT_EQ(wrapped(" \n ", 8, 2), "");
}

TEST(Terminal, FilesHaveNoColours) {
  const int null = open("/dev/null", O_WRONLY);
  EXPECT_FALSE(is_terminal(null));
  EXPECT_FALSE(has_colours(null));
  EXPECT_EQ(columns_of(null), 80);
  close(null);
}

TEST(Progress, ClockTimes) {
  EXPECT_EQ(clock_text(-1), "0:00");
  EXPECT_EQ(clock_text(6.2), "0:07");
  EXPECT_EQ(clock_text(750), "12:30");
  EXPECT_EQ(clock_text(3723), "1:02:03");
}

TEST(Progress, LineHasABarAndFitsAnyTerminal) {
  // 79 columns less 34 of figures leave 45: a third of them is the bar.
  EXPECT_EQ(progress_text("a.wav", 0.5, 12.3, 80, 80),
            "a.wav [========       ]  50 %  12 x real time, 1:20 left");
  EXPECT_EQ(progress_text("a.wav: networks, 0:30 of audio", -1, 0, -1, 80),
            "a.wav: networks, 0:30 of audio");
  for (int columns = 1; columns < 200; ++columns)
    for (const double fraction : {-1.0, 0.0, 0.333, 1.0, 7.0})
      EXPECT_LE(width_of(progress_text("3 of 12 done, 日本語の会議.wav: networks", fraction, 123.4,
                                       12345, columns)),
                columns - 1)
          << columns;
}

}  // namespace
}  // namespace diarist::cli
