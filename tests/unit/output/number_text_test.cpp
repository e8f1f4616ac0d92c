// Rounding against C's printf, and ids as one field.

#include "output/number_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

namespace diarist::output {
namespace {

std::string printed(double value) {
  std::array<char, 400> buffer;
  std::snprintf(buffer.data(), buffer.size(), "%.3f", value);
  return buffer.data();
}

TEST(NumberText, RoundsAsPrintfDoes) {
  std::mt19937_64 draw(3);
  // Ties of the decimal digits that are exact in binary go to the even digit.
  std::vector<double> values = {0.0625, 0.1875, 0.3125, 2.0005, 1.0015,        0.0675, 0.0,
                                1e-9,   0.0005, 0.0015, 1e15,   12345678.0005, 1e300};
  for (int i = 0; i < 20000; ++i) {
    values.push_back(static_cast<double>(draw() % 100000000) / 16000.0);
    const int frame = static_cast<int>(draw() % 400000);
    const double start = frame * 0.016875;
    const double end = (frame + static_cast<int>(draw() % 60)) * 0.016875;
    values.push_back(end - start);
  }
  for (const double value : values) {
    EXPECT_EQ(three_decimals(value), printed(value)) << value;
    if (value < 1e12) {
      EXPECT_EQ(milliseconds_text(rounded_milliseconds(value)), printed(value)) << value;
    }
  }
}

TEST(NumberText, IsTheSameInEveryLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;
    EXPECT_EQ(three_decimals(1234.5), "1234.500") << name;
    EXPECT_EQ(json_number(1234.5), "1234.5") << name;
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(NumberText, FlooredMillisecondsNeverPass) {
  EXPECT_EQ(floored_milliseconds(27.8366), 27836);
  EXPECT_EQ(floored_milliseconds(27.836), 27836);
  EXPECT_EQ(floored_milliseconds(0.0009), 0);
  std::mt19937 draw(5);
  for (int i = 0; i < 2000; ++i) {
    const double seconds = draw() / 16000.0;
    const auto floored = static_cast<double>(floored_milliseconds(seconds));
    EXPECT_LE(floored / 1000, seconds);
    EXPECT_GT((floored + 1) / 1000, seconds);
  }
}

TEST(NumberText, WritesClockTimes) {
  EXPECT_EQ(clock_text(0), "0:00.000");
  EXPECT_EQ(clock_text(62345), "1:02.345");
  EXPECT_EQ(clock_text(3599999), "59:59.999");
  EXPECT_EQ(clock_text(3600000), "1:00:00.000");
  EXPECT_EQ(clock_text(36061007), "10:01:01.007");
}

TEST(NumberText, WritesJsonNumbersThatReadBack) {
  EXPECT_EQ(json_number(12), "12.0");
  EXPECT_EQ(json_number(0.1), "0.1");
  EXPECT_EQ(json_number(1e-7), "1e-07");
  EXPECT_EQ(json_number(std::nan("")), "null");
  EXPECT_EQ(json_number(std::numeric_limits<double>::infinity()), "null");
  for (const double value : {1.0 / 3, 136.6403125, 4.9e-324, 1.7e308}) {
    EXPECT_EQ(std::strtod(json_number(value).c_str(), nullptr), value);
  }
}

TEST(FieldText, KeepsWhatIsNoBlank) {
  for (const char* id : {"meeting", "1505728826.11848331", "-dash", "\"quote\"", "日本語", "ö",
                         "o\xCC\x88", "😀", "..", ";;", "\xFF\xFE"}) {
    EXPECT_EQ(encode_field(id), id);
    EXPECT_EQ(decode_field(id), id);
  }
}

TEST(FieldText, WritesBlanksAndPercentAsHex) {
  EXPECT_EQ(encode_field("two words"), "two%20words");
  EXPECT_EQ(encode_field("100%"), "100%25");
  EXPECT_EQ(encode_field("a\tb\nc\rd\x7F"), "a%09b%0Ac%0Dd%7F");
  EXPECT_EQ(encode_field("no\xC2\xA0"
                         "break"),
            "no%C2%A0break");
  EXPECT_EQ(encode_field("wide\xE3\x80\x80"), "wide%E3%80%80");
  EXPECT_EQ(encode_field(""), "<NA>");
}

TEST(FieldText, LeavesForeignPercentsAlone) {
  for (const char* field :
       {"100%", "%", "%2", "50%zz", "%41", "a%2Fb", "%C2", "%E2%80", "%C3%A9"}) {
    EXPECT_EQ(decode_field(field), field);
  }
}

TEST(FieldText, ComesBackFromAnyBytes) {
  std::mt19937 draw(11);
  const std::string pieces[] = {
      "%",    " ", "20", "25",  "\xC2", "\xA0",         "\xE2", "\x80",
      "\xA8", "a", "\t", "%25", "%20",  "\xE3\x80\x80", "Z",    std::string(1, '\0')};
  for (int i = 0; i < 20000; ++i) {
    std::string id;
    for (unsigned left = draw() % 8 + 1; left > 0; --left) id += pieces[draw() % std::size(pieces)];
    const std::string field = encode_field(id);
    EXPECT_EQ(field.find_first_of(std::string(" \t\n\r\v\f\0", 7)), std::string::npos);
    EXPECT_EQ(decode_field(field), id) << field;
  }
}

}  // namespace
}  // namespace diarist::output
