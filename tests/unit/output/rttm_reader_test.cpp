// Reading RTTM: what real files hold, and what is refused with a line number.

#include <gtest/gtest.h>

#include <fstream>

#include "diarist/error.hpp"
#include "diarist/formats.hpp"
#include "support/support.hpp"

namespace diarist {
namespace {

std::string message_of(const std::string& text) {
  try {
    parse_rttm(text, "file.rttm");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadFile);
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "accepted: " << text;
  return "";
}

TEST(RttmReader, ReadsLinesInOrder) {
  const RttmFile file = parse_rttm(
      "SPEAKER b 1 0.500 1.25 <NA> <NA> Ann <NA> <NA>\n"
      "SPEAKER a 1 0 1e1 <NA> <NA> Bob <NA> <NA>\n"
      "SPEAKER b 1 0.1 0 <NA> <NA> Bob <NA> <NA>",
      "x");
  ASSERT_EQ(file.size(), 2U);
  const std::vector<RttmTurn>& turns = file.at("b");
  ASSERT_EQ(turns.size(), 2U);
  EXPECT_EQ(turns[0].start, 0.5);
  EXPECT_EQ(turns[0].duration, 1.25);
  EXPECT_EQ(turns[0].label, "Ann");
  EXPECT_EQ(turns[1].duration, 0);
  EXPECT_EQ(file.at("a")[0].duration, 10);
}

TEST(RttmReader, TakesWhatRealFilesHold) {
  const RttmFile file = parse_rttm(
      "\xEF\xBB\xBF;; made by hand\r\n"
      "SPKR-INFO a 1 <NA> <NA> <NA> unknown Ann <NA> <NA>\r\n"
      "\r\n"
      "  SPEAKER\ta\t1\t1.5\t2\t<NA>\t<NA>\tAnn\t0.98  \r\n"
      "LEXEME a 1 1.5 0.2 hello lex Ann 0.5 <NA>\r\n"
      "a line of some other kind\r\n"
      "SPEAKER a 1 3 1 <NA> <NA> Bob\r\n",
      "x");
  ASSERT_EQ(file.size(), 1U);
  ASSERT_EQ(file.at("a").size(), 2U);
  EXPECT_EQ(file.at("a")[1].label, "Bob");
}

TEST(RttmReader, IdsAreStrings) {
  const RttmFile file = parse_rttm(
      "SPEAKER 1505728826.11848331 1 0 1 <NA> <NA> 007 <NA> <NA>\n"
      "SPEAKER 1505728826.1184833 1 0 1 <NA> <NA> 7.0 <NA> <NA>\n"
      "SPEAKER two%20words 1 0 1 <NA> <NA> a%20b <NA> <NA>\n",
      "x");
  ASSERT_EQ(file.size(), 3U);
  EXPECT_EQ(file.at("1505728826.11848331")[0].label, "007");
  EXPECT_EQ(file.at("1505728826.1184833")[0].label, "7.0");
  EXPECT_EQ(file.at("two words")[0].label, "a b");
}

TEST(RttmReader, NoTurnsAreANormalFile) {
  EXPECT_TRUE(parse_rttm("", "x").empty());
  EXPECT_TRUE(parse_rttm("\n;; silence\n \t \n", "x").empty());
  EXPECT_TRUE(parse_rttm("NOSCORE a 1 0 5 <NA> <NA> <NA> <NA> <NA>\n", "x").empty());
}

TEST(RttmReader, RefusesDamagedLinesWithTheirNumber) {
  const std::string good = "SPEAKER a 1 0 1 <NA> <NA> A <NA> <NA>\n";
  const struct {
    const char* line;
    const char* part;
  } cases[] = {
      {"SPEAKER", "at least 8 fields and this has 1"},
      {"SPEAKER a 1 0 1 <NA> <NA>", "this has 7"},
      {"SPEAKER two words 1 0 1 <NA> <NA> A <NA> <NA>", "has 11"},
      {"SPEAKER a 1 x 1 <NA> <NA> A <NA> <NA>", "start 'x'"},
      {"SPEAKER a 1 0 1,5 <NA> <NA> A <NA> <NA>", "duration '1,5'"},
      {"SPEAKER a 1 -1 1 <NA> <NA> A <NA> <NA>", "start '-1'"},
      {"SPEAKER a 1 1 -0.5 <NA> <NA> A <NA> <NA>", "duration '-0.5'"},
      {"SPEAKER a 1 nan 1 <NA> <NA> A <NA> <NA>", "start 'nan'"},
      {"SPEAKER a 1 0 inf <NA> <NA> A <NA> <NA>", "duration 'inf'"},
      {"SPEAKER a 1 1e999 1 <NA> <NA> A <NA> <NA>", "start '1e999'"},
      {"SPEAKER a 1 1e308 1e308 <NA> <NA> A <NA> <NA>", "too large"},
      {"SPEAKER a 1 0x10 1 <NA> <NA> A <NA> <NA>", "start '0x10'"},
      {"SPEAKER a 1 <NA> 1 <NA> <NA> A <NA> <NA>", "start '<NA>'"},
  };
  for (const auto& [line, part] : cases) {
    const std::string message = message_of(good + ";; comment\n" + line + "\n" + good);
    EXPECT_NE(message.find("file.rttm, line 3: "), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find("SPEAKER <uri> 1 <start> <duration>"), std::string::npos) << message;
  }
}

TEST(RttmReader, RefusesWhatIsNoRttmAtAll) {
  const std::string message = message_of(std::string("\nRIFF\x01\x02\x00\xFF\n", 10));
  EXPECT_NE(message.find("file.rttm, line 2: 'RIFF?"), std::string::npos) << message;
  message_of("start,end,speaker\n0,1,A\n");
  EXPECT_LT(message_of(std::string(100000, 'x')).size(), 300U);
}

TEST(RttmReader, ReadsFilesAndNamesMissingOnes) {
  const test::TempFolder folder;
  const std::filesystem::path file = folder.path() / "a.rttm";
  std::ofstream(file) << "SPEAKER a 1 0 1 <NA> <NA> A <NA> <NA>\nSPEAKER a 1\n";
  try {
    read_rttm(file);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a.rttm, line 2"), std::string::npos) << error.what();
  }
  try {
    read_rttm(folder.path() / "missing.rttm");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_NE(std::string(error.what()).find("missing.rttm"), std::string::npos);
  }
}

}  // namespace
}  // namespace diarist
