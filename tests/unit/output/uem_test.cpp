// UEM: lines of NIST's form, ids, and what is refused.

#include <gtest/gtest.h>

#include <cmath>

#include "diarist/error.hpp"
#include "diarist/regions.hpp"

namespace diarist {
namespace {

std::string message_of(const std::string& text) {
  try {
    parse_uem(text, "file.uem");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadFile);
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return "";
}

TEST(Uem, ReadsWhatRealFilesHold) {
  const Regions regions = parse_uem(
      "\xEF\xBB\xBF;; AMI, first minutes\r\n"
      "ES2004a 1 0.00 60\r\n"
      "\r\n"
      "two%20words\tNA\t1.5\t1e2\r\n"
      "ES2004a 1 90 120.125",
      "x");
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(regions.at("ES2004a"), (std::vector<Region>{{0, 60}, {90, 120.125}}));
  EXPECT_EQ(regions.at("two words"), (std::vector<Region>{{1.5, 100}}));
  EXPECT_TRUE(parse_uem("", "x").empty());
}

TEST(Uem, ComesBackToAMillisecond) {
  const Regions regions = {{"1505728826.11848331", {{0, 12.345}, {20, 108000.001}}},
                           {"日本語 100%", {{0.5, 0.5}}},
                           {"", {{1, 2}}}};
  const std::string text = to_uem(regions);
  EXPECT_EQ(text,
            "<NA> 1 1.000 2.000\n"
            "1505728826.11848331 1 0.000 12.345\n"
            "1505728826.11848331 1 20.000 108000.001\n"
            "日本語%20100%25 1 0.500 0.500\n");
  Regions back = parse_uem(text, "x");
  EXPECT_EQ(back.size(), 3U);
  EXPECT_EQ(back.at("日本語 100%"), regions.at("日本語 100%"));
  EXPECT_EQ(back.at("1505728826.11848331"), regions.at("1505728826.11848331"));
}

TEST(Uem, RefusesDamagedLinesWithTheirNumber) {
  const struct {
    const char* line;
    const char* part;
  } cases[] = {{"a 1 0", "4 fields and this has 3"},
               {"two words 1 0 1", "this has 5"},
               {"a 1 x 1", "start 'x'"},
               {"a 1 0 1,5", "end '1,5'"},
               {"a 1 -1 1", "start '-1'"},
               {"a 1 0 nan", "end 'nan'"},
               {"a 1 5 4", "lies before the start"}};
  for (const auto& [line, part] : cases) {
    const std::string message = message_of(std::string("a 1 0 1\n") + line + "\n");
    EXPECT_NE(message.find("file.uem, line 2: "), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  EXPECT_THROW(to_uem({{"a", {{2, 1}}}}), Error);
  EXPECT_THROW(to_uem({{"a", {{0, std::nan("")}}}}), Error);
}

}  // namespace
}  // namespace diarist
