// The program as a user runs it: good input, bad input, exit codes, what goes where.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "diarist/info.hpp"
#include "support/odd_audio.hpp"
#include "support/program.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

std::filesystem::path sample() { return sample_folder() / "sample.wav"; }

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Program, WithoutArgumentsTellsItsVerbs) {
  const ProgramResult result = run_program({});
  EXPECT_EQ(result.exit_code, 2);
  const ProgramResult help = run_program({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* verb : {"run", "cluster", "models", "score", "info"})
    EXPECT_NE(help.out.find(verb), std::string::npos) << verb;
}

TEST(Program, WrongUsageIsTwoAndOneLine) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"run"},
                                             {"run", "--precision", "sloppy", "a.wav"},
                                             {"run", "--format", "xml", "a.wav"},
                                             {"run", "--threads", "-1", "a.wav"},
                                             {"run", "--num-speakers", "1.5", "a.wav"},
                                             {"run", "-a.wav"},
                                             {"models"},
                                             {"models", "pull", "nothing"},
                                             {"dance"}}) {
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(result.out.empty()) << result.out;
    EXPECT_EQ(lines(result.err), 1U) << result.err;
    EXPECT_EQ(result.err.rfind("diarist: ", 0), 0U) << result.err;
  }
  const ProgramResult format = run_program({"run", "--format", "xml", "a.wav"});
  EXPECT_NE(format.err.find("rttm, json, csv, tsv, srt"), std::string::npos) << format.err;
}

TEST(Program, MissingModelsAreThreeAndTellTheCure) {
  const TempFolder empty;
  const ProgramResult result = run_program({"run", "--models", empty.path().string(), "a.wav"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("diarist models pull open"), std::string::npos) << result.err;
  EXPECT_EQ(lines(result.err), 1U) << result.err;
  EXPECT_TRUE(result.out.empty());
}

TEST(Program, InfoNamesPresetsDevicesAndInstructionSets) {
  const ProgramResult result = run_program({"info"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* word : {"open-lite", "community-1", "pyannote-3.1", "cpu", "libsndfile"})
    EXPECT_NE(result.out.find(word), std::string::npos) << word << "\n" << result.out;
}

class ProgramRun : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(models_folder() / "open");
    DIARIST_NEED(sample());
  }
  TempFolder folder_;
};

TEST_F(ProgramRun, OneFilePrintsRttm) {
  const ProgramResult result = run_program({"run", "--preset", "open-lite", sample().string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.err.empty()) << result.err;
  EXPECT_EQ(result.out.rfind("SPEAKER sample 1 ", 0), 0U);
  EXPECT_GE(lines(result.out), 10U);
}

TEST_F(ProgramRun, JsonCarriesBothKindsOfTurns) {
  const ProgramResult result =
      run_program({"run", "--preset", "open-lite", "--format", "json", sample().string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("uri"), "sample");
  EXPECT_EQ(json.at("turns").size(),
            lines(run_program({"run", "--preset", "open-lite", sample().string()}).out));
  EXPECT_EQ(
      json.at("exclusive_turns").size(),
      lines(run_program({"run", "--preset", "open-lite", "--exclusive", sample().string()}).out));
  EXPECT_EQ(json.at("speakers").size(), 2U);
  EXPECT_EQ(json.at("settings").at("preset"), "open-lite");
}

TEST_F(ProgramRun, StagesFeedClusterAndGiveTheSameTurns) {
  const std::string stages = (folder_.path() / "stages").string();
  const ProgramResult result = run_program(
      {"run", "--preset", "open-lite", "--reference", "--save-stages", stages, sample().string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const ProgramResult again =
      run_program({"cluster", "--preset", "open-lite", "--reference", "--segmentations",
                   stages + "/segmentations.npy", "--embeddings", stages + "/embeddings.npy",
                   "--uri", "sample"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, result.out);  // the turn check moves nothing in this recording
  const ProgramResult one =
      run_program({"cluster", "--preset", "open-lite", "--num-speakers", "1", "--segmentations",
                   stages + "/segmentations.npy", "--embeddings", stages + "/embeddings.npy",
                   "--uri", "sample"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out.find("SPEAKER_01"), std::string::npos);
}

TEST_F(ProgramRun, StagesOfWiderWindowsKeepTheirTimes) {
  const std::string stages = (folder_.path() / "stages").string();
  const ProgramResult result = run_program({"run", "--preset", "open-lite", "--reference", "--step",
                                            "2", "--save-stages", stages, sample().string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const ProgramResult again =
      run_program({"cluster", "--preset", "open-lite", "--reference", "--step", "2",
                   "--segmentations", stages + "/segmentations.npy", "--embeddings",
                   stages + "/embeddings.npy", "--uri", "sample"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, result.out);  // the turn check moves nothing in this recording
}

TEST_F(ProgramRun, SilenceThatMissesAMinimumIsSaid) {
  const std::filesystem::path silence = folder_.path() / "silence.wav";
  write_bytes(silence, wav_pcm16(std::vector<float>(16000, 0.0F)));
  const ProgramResult result =
      run_program({"run", "--preset", "open-lite", "--min-speakers", "2", silence.string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out.empty()) << result.out;
  EXPECT_EQ(result.err,
            "diarist: " + silence.string() + ": warning: at least 2 speakers asked for, 0 found\n");
}

TEST_F(ProgramRun, MessagesStayOneLineWhateverAFileIsCalled) {
  const std::filesystem::path odd = folder_.path() / "two\nlines\t\x1b[31m.wav";
  std::vector<float> samples(16000, 0.0F);
  samples[100] = std::nanf("");
  write_bytes(odd, wav_file(chunk("fmt ", wav_format({.tag = 3, .bits = 32})) +
                            chunk("data", float_bytes(samples))));
  const std::filesystem::path missing = folder_.path() / "not\nthere.wav";
  const ProgramResult result =
      run_program({"run", "--preset", "open-lite", odd.string(), missing.string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(lines(result.err), 2U) << result.err;
  EXPECT_NE(result.err.find("two\\x0alines\\x09\\x1b[31m.wav: warning"), std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("not\\x0athere.wav: no such file"), std::string::npos) << result.err;
}

TEST_F(ProgramRun, NumberedIdsDoNotMeetRealNames) {
  std::vector<std::string> arguments = {"run", "--preset", "open-lite", "--out",
                                        (folder_.path() / "out").string()};
  for (const char* name : {"x/a.wav", "y/a.wav", "a.wav.2.wav"}) {
    const std::filesystem::path file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    write_bytes(file, wav_pcm16(std::vector<float>(800, 0.0F)));
    arguments.push_back(file.string());
  }
  EXPECT_EQ(run_program(arguments).exit_code, 0);
  for (const char* name : {"a.wav.rttm", "a.wav.2.rttm", "a.wav.2.2.rttm"})
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "out" / name)) << name;
}

TEST_F(ProgramRun, BadFilesDoNotCostTheOthersTheirResult) {
  const std::vector<OddFile> odd = make_odd_audio(folder_.path());
  ASSERT_GE(odd.size(), 15U);
  const std::string out = (folder_.path() / "out").string();
  std::vector<std::string> arguments = {"run", "--preset", "open-lite", "--out", out};
  for (const OddFile& file : odd) arguments.push_back(file.path.string());
  const std::filesystem::path copy = folder_.path() / "last in line.wav";
  std::filesystem::copy_file(sample(), copy);
  arguments.push_back(copy.string());
  const ProgramResult result = run_program(arguments);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  std::size_t failed = 0;
  for (const OddFile& file : odd) {
    const bool readable =
        file.outcome == OddOutcome::kFine || file.outcome == OddOutcome::kFineWithWarning;
    failed += readable ? 0 : 1;
    const std::filesystem::path rttm =
        std::filesystem::path(out) / (file.path.stem().string() + ".rttm");
    EXPECT_EQ(std::filesystem::exists(rttm), readable) << file.path << "\n" << result.err;
    // One line that names the file for each one that can't be read or has something odd.
    const bool named = result.err.find(file.path.string()) != std::string::npos;
    EXPECT_EQ(named, file.outcome != OddOutcome::kFine || file.not_finite > 0) << file.path << "\n"
                                                                               << result.err;
  }
  EXPECT_GE(failed, 3U);
  const std::string last = read(std::filesystem::path(out) / "last in line.rttm");
  EXPECT_GE(lines(last), 10U);
  EXPECT_EQ(last.rfind("SPEAKER last%20in%20line 1 ", 0), 0U) << last;
}

TEST_F(ProgramRun, TurnsStayInsideTheRecording) {
  for (const double seconds : {9.9, 9.999, 10.0, 10.001, 10.1, 11.0}) {
    const std::filesystem::path file = folder_.path() / "cut.wav";
    const std::string whole = read(sample());  // 44 bytes of header, then 16-bit samples
    const std::size_t bytes = static_cast<std::size_t>(std::llround(seconds * 16000)) * 2;
    write_bytes(file, wav_file(chunk("fmt ", wav_format({})) +
                               chunk("data", whole.substr(whole.size() - bytes))));
    const ProgramResult result =
        run_program({"run", "--preset", "open-lite", "--format", "json", file.string()});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json json = nlohmann::json::parse(result.out);
    double before = 0;
    EXPECT_GE(json.at("turns").size(), 3U) << seconds;
    for (const nlohmann::json& turn : json.at("turns")) {
      EXPECT_LT(turn.at("start").get<double>(), turn.at("end").get<double>());
      EXPECT_LE(turn.at("end").get<double>(), seconds + 1e-9);
      EXPECT_GE(turn.at("start").get<double>(), before);
      before = turn.at("start").get<double>();
    }
  }
}

TEST_F(ProgramRun, FilesWithOneStemDoNotCollide) {
  std::filesystem::create_directories(folder_.path() / "other");
  std::filesystem::copy_file(sample(), folder_.path() / "1505728826.11848331.wav");
  std::filesystem::copy_file(sample(), folder_.path() / "other" / "1505728826.11848331.wav");
  const std::string out = (folder_.path() / "out").string();
  const ProgramResult result =
      run_program({"run", "--preset", "open-lite", "--out", out,
                   (folder_.path() / "1505728826.11848331.wav").string(),
                   (folder_.path() / "other" / "1505728826.11848331.wav").string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    ++files;
    EXPECT_EQ(entry.path().extension(), ".rttm");
    EXPECT_NE(read(entry.path()).find("1505728826.11848331"), std::string::npos);
  }
  EXPECT_EQ(files, 2U);
}

TEST_F(ProgramRun, NumbersThatCanNotBeMeantAreWrongUsage) {
  for (const std::vector<std::string>& hints :
       std::vector<std::vector<std::string>>{{"--threads", "100000"},
                                             {"--num-speakers", "0"},
                                             {"--min-speakers", "-2"},
                                             {"--min-speakers", "3", "--max-speakers", "2"},
                                             {"--num-speakers", "4", "--max-speakers", "2"}}) {
    std::vector<std::string> arguments = {"run", "--preset", "open-lite", sample().string()};
    arguments.insert(arguments.end(), hints.begin(), hints.end());
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 2) << hints[0] << " " << hints[1] << ": " << result.err;
    EXPECT_EQ(lines(result.err), 1U) << result.err;
  }
}

TEST_F(ProgramRun, NumbersAreAContractAndAMissedOneIsSaid) {
  const auto speakers = [](const std::string& rttm) {
    int most = 0;
    for (int i = 0; i < 50; ++i)
      if (rttm.find("SPEAKER_" + std::string(i < 10 ? "0" : "") + std::to_string(i)) !=
          std::string::npos)
        most = i + 1;
    return most;
  };
  for (const int wanted : {1, 2, 3}) {
    const ProgramResult result = run_program({"run", "--preset", "open-lite", "--num-speakers",
                                              std::to_string(wanted), sample().string()});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_LE(speakers(result.out), wanted);
    EXPECT_GE(speakers(result.out), 1);
  }
  const ProgramResult many =
      run_program({"run", "--preset", "open-lite", "--num-speakers", "40", sample().string()});
  EXPECT_EQ(many.exit_code, 0) << many.err;
  EXPECT_LT(speakers(many.out), 40);
  EXPECT_NE(many.err.find("40 speakers asked for"), std::string::npos) << many.err;
}

TEST_F(ProgramRun, ForcedInstructionSetsAgree) {
  const ProgramResult best = run_program({"run", "--preset", "open-lite", sample().string()});
  const ProgramResult unknown =
      run_program({"run", "--cpu-target", "Z80", "--preset", "open-lite", sample().string()});
  EXPECT_EQ(unknown.exit_code, 2) << unknown.err;
  const std::vector<std::string> targets = build_info().cpu_targets_supported;
  if (targets.size() < 2) GTEST_SKIP() << "this machine has one instruction set only";
  const std::string& other = targets[1];
  const ProgramResult plain =
      run_program({"run", "--cpu-target", other, "--preset", "open-lite", sample().string()});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out, best.out);
}

TEST_F(ProgramRun, FastModeSaysWhatRunsOrThatItCannot) {
  const BuildInfo build = build_info();
  const std::vector<std::string>& sets = build.cpu_targets_supported;
  const auto fast = [](const std::string& set) {
    return run_program({"run", "--precision", "fast", "--cpu-target", set, "--preset", "open-lite",
                        "--format", "json", sample().string()});
  };
  if (sets.size() > 1 || build.cpu_bf16_supported.empty()) {
    const ProgramResult refused = fast(sets.back());
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_NE(refused.err.find("--precision exact"), std::string::npos) << refused.err;
  }
  for (const std::string& instruction : build.cpu_bf16_supported) {
    const ProgramResult result = fast(sets.front() + "+" + instruction);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("\"precision\": \"fast\""), std::string::npos);
    EXPECT_NE(result.out.find("bf16 " + instruction), std::string::npos) << result.out;
  }
}

TEST_F(ProgramRun, BrokenPipeEndsQuietlyAndFullDiskDoesNot) {
  const std::string command = program().string() + " run --preset open-lite " + sample().string();
  const std::map<std::string, std::string> models = {{"DIARIST_MODELS", models_folder().string()}};
  const ProgramResult pipe = run_command({"sh", "-c", command + " | true"}, models);
  EXPECT_EQ(pipe.err, "");
  const ProgramResult full = run_command({"sh", "-c", command + " > /dev/full"}, models);
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(lines(full.err), 1U) << full.err;
}

}  // namespace
}  // namespace diarist::test
