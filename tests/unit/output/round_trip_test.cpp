// Every format with a reader tells the same turns, and gives them back.

#include <gtest/gtest.h>

#include <fstream>

#include "diarist/error.hpp"
#include "diarist/formats.hpp"
#include "support/support.hpp"
#include "unit/output/format_results.hpp"
#include "unit/output/results.hpp"

namespace diarist {
namespace {

// Three decimals, the end of RTTM from two rounded numbers, and a cut at the recording's end.
constexpr double kRounding = 0.0005 + 1e-9;
constexpr double kOfThreeRoundings = 0.0015 + 1e-6;

class RoundTrip : public testing::TestWithParam<Format> {};

Diarization back(const Diarization& result, Format format) {
  std::vector<Diarization> read =
      parse_results(to_text(result, format), format, "text", result.uri);
  EXPECT_EQ(read.size(), 1U);
  return read.at(0);
}

TEST_P(RoundTrip, ComesBackToAMillisecond) {
  std::mt19937 draw(41);
  const double offsets[] = {0, 0, 0, 3590, 30 * 3600, 100 * 3600};
  for (int round = 0; round < 300; ++round) {
    const Diarization result = test::awkward_result(draw, offsets[round % 6]);
    const Diarization got = back(result, GetParam());
    SCOPED_TRACE(to_text(result, GetParam()));
    if (!(result.turns.empty() && format_info(GetParam()).holds_many)) {
      EXPECT_EQ(got.uri, result.uri);
    }
    test::expect_same_turns(got, result,
                            GetParam() == Format::kRttm ? kOfThreeRoundings : 0.001 + 1e-6);
    if (HasFailure()) return;
  }
}

// What was read is written as the same bytes again: nothing drifts.
TEST_P(RoundTrip, SecondWritingIsTheSameBytes) {
  std::mt19937 draw(43);
  for (int round = 0; round < 100; ++round) {
    const Diarization once = back(test::awkward_result(draw), GetParam());
    const std::string text = to_text(once, GetParam());
    EXPECT_EQ(to_text(back(once, GetParam()), GetParam()), text);
    if (HasFailure()) return;
  }
}

TEST_P(RoundTrip, TurnsThatOverlapOwnOnesComeBackToo) {
  Diarization result;
  result.uri = "twice";
  result.speakers = {{"A", 0, {}}, {"A (2)", 0, {}}};
  result.turns = {{0, 5, 0}, {1, 2, 0}, {1.5, 6, 0}, {2, 3, 1}, {5, 6, 0}};
  test::expect_same_turns(back(result, GetParam()), result, kRounding);
}

TEST_P(RoundTrip, ContentTellsTheFormat) {
  const Diarization result = test::small_result();
  const std::string text = to_text(result, GetParam());
  for (const std::string mark : {"", "\xEF\xBB\xBF"}) {
    const std::vector<Diarization> read = parse_results(mark + text, {}, "text", "meeting");
    ASSERT_EQ(read.size(), 1U);
    test::expect_same_turns(read[0], result, kOfThreeRoundings);
  }
}

TEST_P(RoundTrip, WindowsLineEndsAndSixteenBitsAreRead) {
  const Diarization result = test::small_result();
  std::string windows;
  for (const char c : to_text(result, GetParam())) {
    if (c == '\n') windows += '\r';
    windows += c;
  }
  std::string little = "\xFF\xFE";
  std::string big = "\xFE\xFF";
  for (const char c : windows) {
    little += {c, '\0'};
    big += {'\0', c};
  }
  for (const std::string& text : {windows, little, big}) {
    const std::vector<Diarization> read = parse_results(text, GetParam(), "text", "meeting");
    test::expect_same_turns(read.at(0), result, kOfThreeRoundings);
  }
}

TEST_P(RoundTrip, FilesAreToldByTheirEnding) {
  const test::TempFolder folder;
  const Diarization result = test::small_result();
  for (const std::string_view ending : format_info(GetParam()).endings) {
    const std::filesystem::path file = folder.path() / ("meeting." + std::string(ending));
    std::ofstream(file, std::ios::binary) << to_text(result, GetParam());
    EXPECT_EQ(format_of_ending(file), GetParam());
    const std::vector<Diarization> read = read_results(file);
    EXPECT_EQ(read.at(0).uri, "meeting");
    test::expect_same_turns(read[0], result, kOfThreeRoundings);
    const RttmFile turns = read_turns(file);
    ASSERT_EQ(turns.size(), 1U);
    EXPECT_EQ(turns.begin()->first, "meeting");
    ASSERT_EQ(turns.at("meeting").size(), 3U);
    EXPECT_NEAR(turns.at("meeting")[2].duration, 20, kOfThreeRoundings);
  }
}

TEST_P(RoundTrip, NoSpeechIsANormalFile) {
  Diarization result;
  result.uri = "silence";
  result.duration = 60;
  const Diarization got = back(result, GetParam());
  EXPECT_TRUE(got.turns.empty());
  EXPECT_TRUE(got.speakers.empty());
  EXPECT_EQ(got.uri, "silence");
  EXPECT_TRUE(back(Diarization{}, GetParam()).turns.empty());
}

TEST_P(RoundTrip, BytesThatAreNoTextStayReadable) {
  Diarization result = test::small_result();
  result.uri = "bad \xFF\xC3( byte";
  result.speakers[0].name = "\xF5 \xED\xA0\x80";
  const Diarization got = back(result, GetParam());
  EXPECT_EQ(got.turns.size(), 3U);
}

std::vector<Format> readable() {
  std::vector<Format> list;
  for (const FormatInfo& info : formats()) {
    if (info.has_reader) list.push_back(info.format);
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip, testing::ValuesIn(readable()),
                         [](const auto& one) { return std::string(format_info(one.param).name); });

TEST(JsonRoundTrip, EverythingButTimesOfDayComesBackAsBytes) {
  Diarization result = test::small_result();
  result.warnings = {"7 samples were not finite"};
  result.settings.models = {"segmentation sha256:00"};
  result.settings.kernel_choices = {"a: 1", "b: 2"};
  result.settings.num_speakers = 2;
  result.settings.threads = 5;
  result.settings.shaping.pad = 0.1;
  result.settings.shaping.renames = {{"SPEAKER_00", "Anna"}};
  result.timings.embedding = 1.25;
  result.duration = 27.83663;
  result.turns[0].confidence = 0.625F;
  const std::string text = to_json(result);
  EXPECT_EQ(to_json(parse_results(text, Format::kJson, "x", "y").at(0)), text);
}

TEST(Formats, TableIsWhole) {
  ASSERT_EQ(formats().size(), 13U);
  std::size_t index = 0;
  for (const FormatInfo& info : formats()) {
    EXPECT_EQ(static_cast<std::size_t>(info.format), index++);
    EXPECT_EQ(format_of_name(info.name), info.format);
    for (const std::string_view name : info.other_names) {
      EXPECT_EQ(format_of_name(name), info.format);
    }
    EXPECT_FALSE(info.description.empty());
    EXPECT_TRUE(to_text(test::small_result(), info.format).starts_with(info.first_line));
    // Two formats never write files of one name.
    for (const FormatInfo& other : formats()) {
      EXPECT_TRUE(other.format == info.format || other.endings[0] != info.endings[0]);
    }
  }
  EXPECT_EQ(format_of_name("TextGrid"), Format::kTextGrid);
  EXPECT_EQ(format_of_name("xml"), std::nullopt);
  EXPECT_EQ(format_of_ending("a/b.TEXTGRID"), Format::kTextGrid);
  EXPECT_EQ(format_of_ending("a.pyannote.json"), Format::kPyannote);
  EXPECT_EQ(format_of_ending("a.labels.txt"), Format::kAudacity);
  EXPECT_EQ(format_of_ending("a.json"), Format::kJson);
  EXPECT_EQ(format_of_ending("results"), std::nullopt);
  EXPECT_EQ(format_of_ending(".json"), std::nullopt);
  EXPECT_EQ(format_of_ending("folder.json/"), std::nullopt);
}

TEST(Formats, WithoutAReaderAreRefused) {
  for (const Format format : {Format::kTable, Format::kUem}) {
    try {
      parse_results("", format, "file", "x");
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find("rttm, json"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace diarist
