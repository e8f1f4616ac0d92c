// Where outputs may go: never over what is read, never two in one file.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "diarist/formats.hpp"
#include "support/odd_audio.hpp"
#include "support/program.hpp"
#include "support/support.hpp"
#include "unit/output/results.hpp"

namespace diarist::test {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

class OutputPlaces : public testing::Test {
 protected:
  void SetUp() override {
    write_bytes(path("in.json"), to_json(small_result()));
    write_bytes(path("voice.wav"), wav_pcm16(std::vector<float>(16000, 0.1F)));
    write_bytes(path("t.srt"), "1\n00:00:01,000 --> 00:00:02,000\nHello\n");
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  // The call is wrong usage that names `file`, and leaves it as it is.
  void expect_refused(const std::vector<std::string>& arguments, const std::string& file) const {
    const std::string before = content(file);
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_NE(result.err.find(fs::path(file).filename().string()), std::string::npos) << result.err;
    EXPECT_EQ(content(file), before) << arguments[0];
  }
  TempFolder folder_;
};

TEST_F(OutputPlaces, WhatIsReadIsNeverReplaced) {
  const std::string voice = path("voice.wav"), json = path("in.json");
  expect_refused({"run", voice, "--report", voice}, voice);
  expect_refused({"run", voice, "--out", voice}, voice);
  expect_refused({"run", voice, "--dry-run", "--report", voice}, voice);
  expect_refused({"report", json, voice, "-o", voice}, voice);
  expect_refused({"report", json, "-o", json}, json);
  expect_refused({"embed", voice, "--out", voice}, voice);
  expect_refused({"embed", voice, "--segments", json, "--out", json}, json);
  expect_refused({"label", path("t.srt"), "--turns", json, "--out", json}, json);
  expect_refused({"convert", json, json}, json);
  expect_refused({"label", path("t.srt"), "--turns", json, "--out", path("t.srt")}, path("t.srt"));
  // Under another name too.
  const std::string same = path("same.wav");
  fs::create_hard_link(voice, same);
  expect_refused({"run", voice, "--report", same}, same);
}

TEST_F(OutputPlaces, TwoResultsDoNotShareAFile) {
  const ProgramResult result = run_program(
      {"run", path("voice.wav"), "--report", path("x.rttm"), "--out", path("./x.rttm")});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_FALSE(fs::exists(path("x.rttm")));
}

TEST_F(OutputPlaces, LinksLeadToTheirTargetEvenWhereThereIsNone) {
  fs::create_symlink("real.rttm", path("link.rttm"));
  ASSERT_EQ(run_program({"convert", path("in.json"), path("link.rttm")}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(path("link.rttm")));
  EXPECT_NE(content(path("real.rttm")).find("SPEAKER"), std::string::npos);
}

TEST_F(OutputPlaces, PipesAndDevicesAreWrittenTo) {
  const std::string pipe = path("pipe.rttm");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = content(pipe); });
  EXPECT_EQ(run_program({"convert", path("in.json"), pipe}).exit_code, 0);
  reader.join();
  EXPECT_NE(got.find("SPEAKER"), std::string::npos);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(run_program({"convert", path("in.json"), "/dev/null", "--to", "srt"}).exit_code, 0);
  const ProgramResult full = run_program({"convert", path("in.json"), "/dev/full", "--to", "srt"});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_NE(full.err.find("/dev/full: can't write"), std::string::npos) << full.err;
}

TEST_F(OutputPlaces, TheLongestNameIsFineAndTheModeStays) {
  const std::string name = path(std::string(250, 'n') + ".rttm");  // 255 bytes
  EXPECT_EQ(run_program({"convert", path("in.json"), name}).exit_code, 0);
  EXPECT_TRUE(fs::exists(name));
  const fs::perms mine = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(name, mine);
  EXPECT_EQ(run_program({"convert", path("in.json"), name}).exit_code, 0);
  EXPECT_EQ(fs::status(name).permissions(), mine);
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".diarist-")) << entry.path();
}

TEST_F(OutputPlaces, TextWithoutTimesIsNoSrt) {
  write_bytes(path("junk.srt"), "hello\n");
  const ProgramResult junk = run_program({"convert", path("junk.srt"), "-", "--to", "csv"});
  EXPECT_EQ(junk.exit_code, 1);
  EXPECT_NE(junk.err.find("no SRT"), std::string::npos) << junk.err;
  write_bytes(path("empty.srt"), "");
  EXPECT_EQ(run_program({"convert", path("empty.srt"), "-", "--to", "csv"}).exit_code, 0);
}

}  // namespace
}  // namespace diarist::test
