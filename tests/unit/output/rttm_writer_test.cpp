// RTTM as spec/pipeline.md sections 14 and 18 want it, and files of the reference pipeline.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "diarist/error.hpp"
#include "diarist/formats.hpp"
#include "support/support.hpp"
#include "unit/output/results.hpp"

namespace diarist {
namespace {

TEST(RttmWriter, WritesOneLinePerTurn) {
  EXPECT_EQ(to_rttm(test::small_result()),
            "SPEAKER meeting 1 0.031 2.469 <NA> <NA> SPEAKER_00 <NA> <NA>\n"
            "SPEAKER meeting 1 2.000 2.250 <NA> <NA> SPEAKER_01 <NA> <NA>\n"
            "SPEAKER meeting 1 10.000 20.000 <NA> <NA> SPEAKER_00 <NA> <NA>\n");
  EXPECT_EQ(to_rttm(test::small_result(), true).substr(0, 38),
            "SPEAKER meeting 1 0.031 1.969 <NA> <NA");
  EXPECT_EQ(to_rttm(Diarization{}), "");
}

TEST(RttmWriter, DurationIsTheDifferenceOfTheTwoTimes) {
  // Four frames are 67.5 ms; the noise of the subtraction decides between 0.067 and 0.068.
  int up = 0;
  int down = 0;
  for (int frame = 0; frame < 4000; ++frame) {
    const auto middle = [](int i) {
      const double start = i * 0.016875;
      return 0.5 * (start + (start + 0.0619375));
    };
    Diarization result;
    result.uri = "a";
    result.speakers = {{"S", 0, {}}};
    result.turns = {{middle(frame), middle(frame + 4), 0}};
    char line[200];
    std::snprintf(line, sizeof line, "SPEAKER a 1 %.3f %.3f <NA> <NA> S <NA> <NA>\n",
                  result.turns[0].start, result.turns[0].end - result.turns[0].start);
    ASSERT_EQ(to_rttm(result), line) << frame;
    (std::string(line).find(" 0.068 ") != std::string::npos ? up : down) += 1;
  }
  EXPECT_GT(up, 100);
  EXPECT_GT(down, 100);
}

TEST(RttmWriter, PrintedEndsDoNotPassTheDuration) {
  Diarization result;
  result.uri = "a";
  result.duration = 27.8366;
  result.speakers = {{"S", 0, {}}};
  result.turns = {{20.0004, 27.8366, 0}};
  EXPECT_EQ(to_rttm(result), "SPEAKER a 1 20.000 7.836 <NA> <NA> S <NA> <NA>\n");
  // The reference prints what it has.
  result.settings.reference = true;
  result.turns = {{20.0, 27.8366, 0}};
  EXPECT_EQ(to_rttm(result), "SPEAKER a 1 20.000 7.837 <NA> <NA> S <NA> <NA>\n");
  result.settings.reference = false;
  result.duration = 0;  // not known
  EXPECT_EQ(to_rttm(result), "SPEAKER a 1 20.000 7.837 <NA> <NA> S <NA> <NA>\n");
  // Less than a millisecond left at the end.
  result.duration = 27.8364;
  result.turns = {{27.8361, 27.8364, 0}};
  EXPECT_EQ(to_rttm(result), "SPEAKER a 1 27.835 0.001 <NA> <NA> S <NA> <NA>\n");
}

TEST(RttmWriter, NamesStayOneField) {
  Diarization result = test::small_result();
  result.uri = "two words 100%";
  result.speakers[0].name = "Ann Lee";
  const std::string text = to_rttm(result);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "SPEAKER two%20words%20100%25 1 0.031 2.469 <NA> <NA> Ann%20Lee <NA> <NA>");
  const RttmFile read = parse_rttm(text, "x");
  ASSERT_TRUE(read.contains("two words 100%"));
  EXPECT_EQ(read.at("two words 100%")[0].label, "Ann Lee");
}

TEST(RttmWriter, ResultsThatCannotBePrintedAreErrors) {
  Diarization result = test::small_result();
  result.turns[0].speaker = 2;
  EXPECT_THROW(to_rttm(result), Error);
  EXPECT_THROW(to_json(result), Error);
  EXPECT_THROW(to_table(result), Error);
  result.turns[0] = {0, std::nan(""), 0};
  EXPECT_THROW(to_rttm(result), Error);
  EXPECT_THROW(to_json(result), Error);
  EXPECT_THROW(to_table(result), Error);
}

// Every RTTM file of the reference pipeline that lies around, read and written again, must be the
// same bytes.
TEST(RttmRoundTrip, FilesOfTheReferencePipelineComeBackAsBytes) {
  DIARIST_NEED(test::shared_folder() / "data" / "captures");
  int files = 0;
  for (const char* part : {"captures", "oracle", "open_preset"}) {
    const std::filesystem::path folder = test::shared_folder() / "data" / part;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".rttm") continue;
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      const RttmFile read = read_rttm(entry.path());
      if (read.empty()) continue;
      ASSERT_EQ(read.size(), 1U) << entry.path();
      Diarization result;
      result.uri = read.begin()->first;
      for (const RttmTurn& turn : read.begin()->second) {
        result.turns.push_back(
            {turn.start, turn.start + turn.duration, static_cast<int>(result.speakers.size())});
        result.speakers.push_back({turn.label, 0, {}});
      }
      EXPECT_EQ(to_rttm(result), bytes.str()) << entry.path();
      ++files;
    }
  }
  EXPECT_GE(files, 10);
}

}  // namespace
}  // namespace diarist
