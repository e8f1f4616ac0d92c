// Signals in every stage, full disks, places that can't be written: no partial file, one line.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "support/odd_audio.hpp"
#include "terminal.hpp"

namespace diarist::test {
namespace {

std::filesystem::path sample() { return sample_folder() / "sample.wav"; }

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::map<std::string, std::string> files_below(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[std::filesystem::relative(entry.path(), folder).string()] = read(entry.path());
  return files;
}

class Interrupt : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(models_folder() / "open");
    DIARIST_NEED(sample());
    // 12 s with speech of both; 44 bytes of header, then 16-bit samples.
    const std::string sound = read(sample()).substr(44 + 6 * 32000, 12 * 32000);
    for (const char* name : {"a.wav", "b.wav", "c.wav"})
      write_bytes(folder_.path() / name,
                  wav_file(chunk("fmt ", wav_format({})) + chunk("data", sound)));
  }
  std::vector<std::string> words(const std::string& out) const {
    return {"run",     "--preset",      "open",    "--threads",   "1",           "--out",
            path(out), "--save-stages", path(out), path("a.wav"), path("b.wav"), path("c.wav")};
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  TempFolder folder_;
};

TEST_F(Interrupt, InAnyStageFilesAreWholeOrMissing) {
  const TerminalResult whole = run_in_terminal({"--no-terminal"}, words("whole"));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::map<std::string, std::string> expected = files_below(path("whole"));
  ASSERT_EQ(expected.size(), 15U);  // 3 RTTM and 3 times 4 arrays
  int interrupted = 0;
  for (int i = 0; i < 8; ++i) {
    const double after = whole.seconds * (i + 0.5) / 8;
    const std::string out = "out" + std::to_string(i);
    const TerminalResult result =
        run_in_terminal({"--no-terminal", "--signal", i % 2 == 0 ? "SIGINT" : "SIGTERM", "--after",
                         std::to_string(after)},
                        words(out));
    std::map<std::string, std::string> files = files_below(path(out));
    for (const auto& [name, bytes] : files) {
      ASSERT_EQ(expected.count(name), 1U) << name << " is left over";
      EXPECT_TRUE(expected.at(name) == bytes) << name << " is not whole";
    }
    if (result.code == 0 || result.code == (i % 2 == 0 ? -2 : -15))
      continue;  // late, or very early
    ++interrupted;
    EXPECT_EQ(result.code, i % 2 == 0 ? 130 : 143) << result.err;
    EXPECT_LT(result.seconds, 5) << after;
    EXPECT_EQ(result.err.rfind("diarist: interrupted", 0), 0U) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    const auto finished = std::count_if(
        files.begin(), files.end(), [](const auto& file) { return file.first.ends_with(".rttm"); });
    if (finished == 0) continue;
    const std::string done = std::to_string(finished) + " of 3 recordings finished, results in ";
    EXPECT_NE(result.err.find(done + path(out)), std::string::npos) << result.err;
  }
  EXPECT_GE(interrupted, 4);
}

TEST_F(Interrupt, APipeWithoutBytesDoesNotHoldIt) {
  ASSERT_EQ(mkfifo(path("pipe.wav").c_str(), 0600), 0);
  const TerminalResult result =
      run_in_terminal({"--no-terminal", "--signal", "SIGINT", "--after", "1.5"},
                      {"run", "--preset", "open-lite", path("pipe.wav")});
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_LT(result.seconds, 0.9);
  EXPECT_EQ(result.err, "diarist: interrupted: 0 of 1 recording finished\n");
}

TEST_F(Interrupt, WhileAModelLoadsItEndsAtOnce) {
  for (const char* after : {"0.05", "0.1", "0.2"}) {
    const TerminalResult result =
        run_in_terminal({"--no-terminal", "--signal", "SIGINT", "--after", after},
                        {"run", "--preset", "open", path("a.wav")});
    // Very early the signal does what it does to any program.
    EXPECT_TRUE(result.code == 130 || result.code == -2) << result.err;
    EXPECT_LT(result.seconds, 0.9);
  }
}

TEST_F(Interrupt, MoreSignalsDoNotChangeTheEnd) {
  ASSERT_EQ(mkfifo(path("pipe.wav").c_str(), 0600), 0);
  const TerminalResult result =
      run_in_terminal({"--no-terminal", "--signal", "SIGINT", "--after", "1.5", "--times", "6"},
                      {"run", "--preset", "open-lite", path("pipe.wav")});
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_LT(result.seconds, 0.9);
}

// A result goes into a pipe that nobody reads: that write looks at no token.
TEST_F(Interrupt, ASecondSignalEndsAtOnceWhatDoesNotLook) {
  ASSERT_EQ(mkfifo(path("turns.rttm").c_str(), 0600), 0);
  const TerminalResult result =
      run_in_terminal({"--no-terminal", "--signal", "SIGINT", "--after", "4", "--times", "4"},
                      {"run", "--preset", "open-lite", path("a.wav"), "--out", path("turns.rttm")});
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_LT(result.seconds, 0.9);
}

TEST_F(Interrupt, TheLineOfProgressIsTakenAwayFirst) {
  const TerminalResult result =
      run_in_terminal({"--signal", "SIGINT", "--when", " %"}, words("out"), {{"NO_COLOR", "1"}});
  EXPECT_EQ(result.code, 130);
  EXPECT_NE(result.err.find("\r\033[Kdiarist: interrupted"), std::string::npos) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST_F(Interrupt, EmbeddingsAreWholeOrMissing) {
  for (const char* after : {"0.3", "0.6", "0.9"}) {
    const TerminalResult result = run_in_terminal(
        {"--no-terminal", "--signal", "SIGINT", "--after", after},
        {"embed", "--preset", "open", "--threads", "1", path("a.wav"), "--out", path("v.npy")});
    EXPECT_TRUE(result.code == 130 || result.code == 0 || result.code == -2) << result.err;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      EXPECT_TRUE(entry.path().extension() == ".wav" || entry.path().filename() == "v.npy")
          << entry.path();
  }
}

TEST_F(Interrupt, AFullDiskIsOneLinePerFileAndLeavesNothing) {
  // No file may grow: what a full disk says, in other words. The messages go through a pipe.
  const std::string command =
      "(ulimit -f 0; \"$0\" run --preset open-lite --out \"$1\" \"$2\" \"$3\"; echo code $?) 2>&1 "
      "| cat";
  const ProgramResult result = run_command(
      {"sh", "-c", command, program().string(), path("out"), path("a.wav"), path("b.wav")},
      {{"DIARIST_MODELS", models_folder().string()}, {"DIARIST_CONFIG", ""}});
  EXPECT_NE(result.out.find("a.rttm: can't write: "), std::string::npos)
      << result.out << result.err;
  EXPECT_NE(result.out.find("b.rttm: can't write: "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("code 1\n"), std::string::npos) << result.out;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 3) << result.out;
  EXPECT_TRUE(files_below(path("out")).empty());
}

TEST_F(Interrupt, APlaceThatCanNotBeWrittenCostsThatFileOnly) {
  std::filesystem::create_directories(path("out/a.rttm"));
  const ProgramResult result = run_program(
      {"run", "--preset", "open-lite", "--out", path("out"), path("a.wav"), path("b.wav")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_NE(result.err.find("a.rttm"), std::string::npos) << result.err;
  const std::map<std::string, std::string> files = files_below(path("out"));
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files.begin()->first, "b.rttm");
}

TEST_F(Interrupt, AResultGoesThroughALinkAndKeepsIt) {
  std::filesystem::create_directories(path("out"));
  std::ofstream(path("elsewhere.rttm")) << "old";
  std::filesystem::create_symlink(path("elsewhere.rttm"), path("out/a.rttm"));
  EXPECT_EQ(
      run_program({"run", "--preset", "open-lite", "--out", path("out"), path("a.wav")}).exit_code,
      0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("out/a.rttm")));
  EXPECT_EQ(read(path("elsewhere.rttm")).rfind("SPEAKER a 1 ", 0), 0U);
}

TEST_F(Interrupt, AFolderOrAFileWithoutPermissionIsNamed) {
  const ProgramResult folder = run_program({"run", "--preset", "open-lite", path("")});
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_EQ(std::count(folder.err.begin(), folder.err.end(), '\n'), 1) << folder.err;
  std::filesystem::permissions(path("a.wav"), std::filesystem::perms::none);
  if (std::ifstream(path("a.wav"))) GTEST_SKIP() << "this user may read everything";
  const ProgramResult closed = run_program({"run", "--preset", "open-lite", path("a.wav")});
  EXPECT_EQ(closed.exit_code, 1);
  EXPECT_NE(closed.err.find("a.wav"), std::string::npos) << closed.err;
}

TEST_F(Interrupt, ARecordingThatGrowsIsReadToAnEnd) {
  const std::string bytes = read(path("a.wav"));  // a header of 44 bytes
  std::ofstream(path("grows.wav"), std::ios::binary) << bytes;
  std::jthread writer([&](const std::stop_token& stop) {
    std::ofstream file(path("grows.wav"), std::ios::binary | std::ios::app);
    while (!stop.stop_requested()) {
      file << bytes.substr(44, 3200) << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const ProgramResult grown = run_program({"run", "--preset", "open-lite", path("grows.wav")});
  writer.request_stop();
  EXPECT_EQ(grown.exit_code, 0) << grown.err;
  // The header says where the sound ends.
  const ProgramResult fixed = run_program({"run", "--preset", "open-lite", path("a.wav")});
  std::string renamed = fixed.out;
  for (std::size_t at = 0; (at = renamed.find("SPEAKER a ", at)) != std::string::npos; ++at)
    renamed.replace(at, 10, "SPEAKER grows ");
  EXPECT_EQ(grown.out, renamed);
}

}  // namespace
}  // namespace diarist::test
