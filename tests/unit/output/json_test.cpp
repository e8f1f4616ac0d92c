// JSON: parsed by another program's parser, and its text.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "diarist/formats.hpp"
#include "unit/output/results.hpp"

namespace diarist {
namespace {

using nlohmann::json;

TEST(Json, CarriesTheWholeResult) {
  Diarization result = test::small_result();
  result.turns[0].confidence = 0.9375F;  // a tie: halves to even
  result.warnings = {"7 samples were not finite"};
  result.settings.device = "cpu";
  result.settings.kernels = "AVX2";
  result.settings.precision = "exact";
  result.settings.step_seconds = 2;
  result.settings.threads = 3;
  result.settings.num_speakers = 2;
  result.settings.models = {"segmentation sha256:00"};
  result.settings.kernel_choices = {"block_walk: 3"};
  result.timings.decode = 0.12345;
  result.timings.total = 2;
  const json parsed = json::parse(to_json(result));
  EXPECT_EQ(parsed["format"], "diarist.diarization");
  EXPECT_EQ(parsed["version"], 1);
  EXPECT_EQ(parsed["uri"], "meeting");
  EXPECT_EQ(parsed["duration"], 30.0);
  ASSERT_EQ(parsed["turns"].size(), 3U);
  EXPECT_EQ(
      parsed["turns"][0],
      (json{{"start", 0.031}, {"end", 2.5}, {"speaker", "SPEAKER_00"}, {"confidence", 0.938}}));
  EXPECT_EQ(parsed["turns"][1]["confidence"], 1.0);
  EXPECT_EQ(parsed["turns"][2]["end"], 30.0);
  EXPECT_EQ(parsed["exclusive_turns"][0]["end"], 2.0);
  EXPECT_EQ(parsed["speakers"][0],
            (json{{"name", "SPEAKER_00"}, {"seconds", 22.469}, {"turns", 2}}));
  EXPECT_EQ(parsed["settings"]["preset"], "open");
  EXPECT_EQ(parsed["settings"]["kernels"], "AVX2");
  EXPECT_EQ(parsed["settings"]["reference"], false);
  EXPECT_EQ(parsed["settings"]["step_seconds"], 2);
  EXPECT_EQ(parsed["settings"]["num_speakers"], 2);
  EXPECT_TRUE(parsed["settings"]["min_speakers"].is_null());
  EXPECT_EQ(parsed["settings"]["models"][0], "segmentation sha256:00");
  EXPECT_EQ(parsed["settings"]["kernel_choices"][0], "block_walk: 3");
  EXPECT_EQ(parsed["warnings"][0], "7 samples were not finite");
  EXPECT_EQ(parsed["timings"]["threads"], 3);
  EXPECT_EQ(parsed["timings"]["decode"], 0.123);
  EXPECT_EQ(parsed["timings"]["total"], 2.0);
  EXPECT_TRUE(parsed["timings"]["device_idle"].is_null());
}

TEST(Json, IsTheSameTextApartFromTheTimings) {
  Diarization one = test::small_result();
  Diarization other = one;
  other.timings.total = 99;
  other.settings.threads = 7;
  const std::string a = to_json(one);
  const std::string b = to_json(other);
  EXPECT_NE(a, b);
  EXPECT_EQ(a.substr(0, a.find("\"timings\"")), b.substr(0, b.find("\"timings\"")));
  EXPECT_EQ(to_json(one), a);
  EXPECT_NE(
      a.find(
          R"(    {"start": 0.031, "end": 2.500, "speaker": "SPEAKER_00", "confidence": 1.000},)"),
      std::string::npos)
      << a;
}

TEST(Json, KeepsTrueNamesAndStaysValid) {
  Diarization result = test::small_result();
  for (const char* uri : {"two words", "\"quote\\", "日本語 😀", "tab\there", "100%", ""}) {
    result.uri = uri;
    EXPECT_EQ(json::parse(to_json(result))["uri"], uri);
  }
  result.uri = "bad \xFF byte";
  EXPECT_EQ(json::parse(to_json(result))["uri"], "bad \xEF\xBF\xBD byte");
}

TEST(Json, HasNoNumberThatIsNone) {
  Diarization result = test::small_result();
  result.duration = std::nan("");
  result.timings.total = HUGE_VAL;
  result.speakers[0].speech_seconds = std::nan("");
  const json parsed = json::parse(to_json(result));
  EXPECT_TRUE(parsed["duration"].is_null());
  EXPECT_TRUE(parsed["timings"]["total"].is_null());
  EXPECT_TRUE(parsed["speakers"][0]["seconds"].is_null());
}

TEST(Json, NoSpeechIsANormalResult) {
  Diarization result;
  result.uri = "silence";
  result.duration = 60;
  const json parsed = json::parse(to_json(result));
  EXPECT_EQ(parsed["turns"], json::array());
  EXPECT_EQ(parsed["speakers"], json::array());
}

}  // namespace
}  // namespace diarist
