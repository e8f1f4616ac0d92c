// `diarist label` as a user runs it.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/program.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

class LabelCommand : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    const std::filesystem::path path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  std::string turns() {
    return file("turns.rttm",
                "SPEAKER talk 1 0.000 2.000 <NA> <NA> Anna <NA> <NA>\n"
                "SPEAKER talk 1 2.000 2.000 <NA> <NA> Bob <NA> <NA>\n");
  }
  std::string json() {
    return file("talk.json",
                R"({"segments": [{"start": 0.0, "end": 4.0, "text": " Hi. Yes.", "words": [)"
                R"({"word": " Hi.", "start": 0.5, "end": 1.0}, )"
                R"({"word": " Yes.", "start": 2.5, "end": 3.0}]}]})");
  }
  TempFolder folder_;
};

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST_F(LabelCommand, WritesEveryFormat) {
  const ProgramResult same = run_program({"label", json(), "--turns", turns()});
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_TRUE(same.err.empty()) << same.err;
  const nlohmann::json document = nlohmann::json::parse(same.out);
  ASSERT_EQ(document["segments"].size(), 2U);
  EXPECT_EQ(document["segments"][1]["words"][0]["speaker"], "Bob");
  EXPECT_EQ(run_program({"label", json(), "--turns", turns(), "--format", "srt"}).out,
            "1\n00:00:00,000 --> 00:00:01,000\nAnna: Hi.\n\n"
            "2\n00:00:02,500 --> 00:00:04,000\nBob: Yes.\n\n");
  EXPECT_EQ(run_program({"label", json(), "--turns", turns(), "--format", "vtt"}).out,
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n<v Anna>Hi.\n\n"
            "00:00:02.500 --> 00:00:04.000\n<v Bob>Yes.\n\n");
  EXPECT_EQ(run_program({"label", json(), "--turns", turns(), "--format", "txt", "--style",
                         "brackets", "--offset", "2.2"})
                .out,
            "[Bob] Hi.\n[UNKNOWN] Yes.\n");
  EXPECT_EQ(run_program({"label", json(), "--turns", turns(), "--format", "txt", "--whole"}).out,
            "Anna: Hi. Yes.\n");
  EXPECT_EQ(run_program({"label", json(), "--turns", turns(), "--format", "txt", "--offset", "2.2",
                         "--max-distance", "0.8", "--unknown", "?"})
                .out,
            "Bob: Hi. Yes.\n");
}

TEST_F(LabelCommand, OutIsAFile) {
  const std::string out = (folder_.path() / "out.srt").string();
  const ProgramResult result =
      run_program({"label", json(), "--turns", turns(), "--format", "srt", "--out", out});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out.empty());
  EXPECT_EQ(read(out).substr(0, 2), "1\n");
  const ProgramResult nowhere = run_program(
      {"label", json(), "--turns", turns(), "--out", (folder_.path() / "none" / "x").string()});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_NE(nowhere.err.find("there is no folder"), std::string::npos) << nowhere.err;
}

TEST_F(LabelCommand, StandardInputIsATranscriptOrTurns) {
  const std::string shell = program().string() + " label ";
  const ProgramResult first =
      run_command({"sh", "-c", shell + "- --format txt --turns " + turns() + " < " + json()});
  EXPECT_EQ(first.out, "Anna: Hi.\nBob: Yes.\n") << first.err;
  const ProgramResult second = run_command(
      {"sh", "-c", "cat " + turns() + " | " + shell + json() + " --format txt --turns -"});
  EXPECT_EQ(second.out, "Anna: Hi.\nBob: Yes.\n") << second.err;
  const ProgramResult both = run_program({"label", "-", "--turns", "-"});
  EXPECT_EQ(both.exit_code, 2);
}

TEST_F(LabelCommand, OneOfSeveralRecordingsIsChosen) {
  const std::string several = file("all.rttm",
                                   "SPEAKER a 1 0 9 <NA> <NA> Anna <NA> <NA>\n"
                                   "SPEAKER b 1 0 9 <NA> <NA> Bob <NA> <NA>\n");
  const ProgramResult open = run_program({"label", json(), "--turns", several});
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_NE(open.err.find("choose one with --uri: a, b"), std::string::npos) << open.err;
  EXPECT_EQ(run_program({"label", json(), "--turns", several, "--uri", "b", "--format", "txt"}).out,
            "Bob: Hi. Yes.\n");
  EXPECT_EQ(run_program({"label", json(), "--turns", several, "--uri", "c"}).exit_code, 2);
}

TEST_F(LabelCommand, BadInputIsOneLine) {
  const std::string broken = file("broken.json", "{\"segments\": [{\"start\": \"soon\"}]}");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"label", broken, "--turns", turns()},
           {"label", (folder_.path() / "none.json").string(), "--turns", turns()},
           {"label", json(), "--turns", (folder_.path() / "none.rttm").string()},
           {"label", json(), "--turns", json()},
           {"label", folder_.path().string(), "--turns", turns()}}) {
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_TRUE(result.out.empty()) << result.out;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  EXPECT_EQ(run_program({"label", json()}).exit_code, 2);
  EXPECT_EQ(run_program({"label", json(), "--turns", turns(), "--offset", "nan"}).exit_code, 2);
  EXPECT_EQ(run_program({"label", json(), "--turns", turns(), "--max-distance", "-1"}).exit_code,
            2);
}

TEST_F(LabelCommand, EmptyTurnsAreWarnedAbout) {
  const std::string silence = file("silence.rttm", "");
  const ProgramResult result =
      run_program({"label", json(), "--turns", silence, "--format", "txt"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "UNKNOWN: Hi. Yes.\n");
  EXPECT_NE(result.err.find("has no turns"), std::string::npos) << result.err;
}

// The sample's turns, whether they are computed here or come from a file.
TEST_F(LabelCommand, ARecordingIsDiarized) {
  DIARIST_NEED(models_folder() / "open");
  DIARIST_NEED(sample_folder() / "sample.wav");
  const std::string sample = (sample_folder() / "sample.wav").string();
  std::string text;
  for (int i = 0; i < 30; ++i) {
    const std::string second = std::to_string(100 + i).substr(1);
    text += "00:00:" + second + ",200 --> 00:00:" + second + ",800\nw" + second + "\n\n";
  }
  const std::string srt = file("sample.srt", text);
  const ProgramResult run = run_program({"run", "--preset", "open-lite", "--exclusive", sample});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const ProgramResult stored = run_program({"label", srt, "--turns", file("sample.rttm", run.out)});
  const ProgramResult direct =
      run_program({"label", srt, "--turns", sample, "--preset", "open-lite"});
  EXPECT_EQ(direct.exit_code, 0) << direct.err;
  EXPECT_NE(direct.out.find("SPEAKER_00: w"), std::string::npos) << direct.out;
  EXPECT_NE(direct.out.find("SPEAKER_01: w"), std::string::npos) << direct.out;
  EXPECT_EQ(direct.out, stored.out);
}

}  // namespace
}  // namespace diarist::test
