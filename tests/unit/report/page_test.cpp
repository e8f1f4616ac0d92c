// The page as text: its data, its slots, what may not be in it.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "diarist/error.hpp"
#include "diarist/report.hpp"
#include "diarist/waveform.hpp"
#include "output/report/page_data.hpp"
#include "unit/output/results.hpp"

namespace diarist {
namespace {

using nlohmann::json;

// What stands between two marks.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t start = text.find(from) + from.size();
  return text.substr(start, text.find(to, start) - start);
}

TEST(ReportData, HoldsTurnsAsTheWritersPrintThem) {
  Diarization result = test::small_result();
  result.turns[0].confidence = 0.8765F;
  const json data = json::parse(output::page_data(result, {}));
  // 0.03096875 s is 31 ms; 2.5 - 0.03096875 = 2.46903125 s is 2469 ms; 0.8765 is 876 or 877.
  EXPECT_EQ(data["turns"][0][0], 31);
  EXPECT_EQ(data["turns"][0][1], 2500);
  EXPECT_EQ(data["turns"][0][2], 0);
  EXPECT_NEAR(data["turns"][0][3].get<int>(), 876.5, 0.5);
  EXPECT_EQ(data["turns"][0][4], 2469);
  EXPECT_EQ(data["turns"][1], (json{2000, 4250, 1, 1000, 2250}));
  EXPECT_EQ(data["exclusive"].size(), 3U);
  EXPECT_EQ(data["speakers"], (json{"SPEAKER_00", "SPEAKER_01"}));
  EXPECT_EQ(data["confidence"], true);
  EXPECT_EQ(data["duration"], 30.0);
  EXPECT_TRUE(data["wave"].is_null());
  EXPECT_EQ(data["document"]["settings"]["preset"], "open");
  EXPECT_EQ(data["document"]["turns"], json::array());
}

TEST(ReportData, WaveformsOfAnyLengthStaySmall) {
  Diarization result = test::small_result();
  auto waveform = std::make_shared<Waveform>();
  waveform->duration = 10 * 3600;
  waveform->peak.assign(3600000, 10);
  waveform->power.assign(3600000, 4);
  waveform->peak[5] = 200;
  result.waveform = waveform;
  result.duration = 36000;
  const json data = json::parse(output::page_data(result, {}));
  // 3.6 million levels are more than 1.2 million; a quarter of them is not.
  EXPECT_EQ(data["wave"]["perSecond"], 25.0);
  const std::string peak = data["wave"]["peak"];
  EXPECT_EQ(peak.size(), 900000U / 3 * 4);
  EXPECT_EQ(peak.substr(0, 4), "CsgK") << "10, 200 (the largest of the second four), 10";
  const std::string power = data["wave"]["power"];
  EXPECT_EQ(power.size(), 225000U / 3 * 4);
  EXPECT_EQ(power.substr(0, 4), "BAQE");
}

TEST(ReportPage, FillsItsSlotsOnceAndEscapesNames) {
  Diarization result = test::small_result();
  result.uri = "{{script}} </title><script>alert(1)</script>";
  result.speakers[0].name = "</script><img src=x onerror=alert(1)> {{data}}";
  const std::string page = to_html(result, {.title = "", .audio = {}});
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(between(page, "<title>", "</title>"),
            "{{script}} &lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; · who spoke when");
  const json data = json::parse(
      between(page, R"(<script type="application/json" id="report-data">)", "</script>"));
  EXPECT_EQ(data["speakers"][0], result.speakers[0].name);
  EXPECT_EQ(data["uri"], result.uri);
  EXPECT_EQ(page, to_html(result, {.title = "", .audio = {}})) << "same input, same text";
}

TEST(ReportPage, PolicyAllowsNothingButItsOwnText) {
  const std::string page = to_html(test::small_result());
  const std::string policy = between(page, R"(Content-Security-Policy" content=")", "\"");
  EXPECT_EQ(policy.rfind("default-src 'none'; script-src 'sha256-", 0), 0U) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
  EXPECT_EQ(policy.find("http"), std::string::npos) << policy;
  for (const char* piece : {" style=\"", " onclick", "javascript:", "http://", "https://"})
    EXPECT_EQ(page.find(piece), std::string::npos) << piece;
}

TEST(ReportPage, EmbedsAudioAndRefusesBrokenTurns) {
  ReportOptions options;
  options.audio = {.name = "a.mp3", .href = "", .type = "audio/mpeg", .bytes = "foobar"};
  const std::string page = to_html(test::small_result(), options);
  EXPECT_EQ(between(page, R"(id="report-audio">)", "</script>"), "Zm9vYmFy");
  Diarization broken = test::small_result();
  broken.turns[0].speaker = 7;
  EXPECT_THROW(to_html(broken), Error);
  broken = test::small_result();
  broken.turns[0].start = std::nan("");
  EXPECT_THROW(to_html(broken), Error);
}

TEST(ReportPage, NobodySpeaksIsAPageToo) {
  Diarization silence;
  silence.uri = "silence";
  silence.duration = 60;
  EXPECT_NE(to_html(silence).find("\"turns\":[]"), std::string::npos);
  EXPECT_NE(to_svg(silence).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace diarist
