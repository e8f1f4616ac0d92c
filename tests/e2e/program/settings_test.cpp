// Where values come from: command line, environment, configuration file, built in.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "support/program.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

class SettingsFile : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) {
    const std::filesystem::path file = folder_.path() / "config.toml";
    std::ofstream(file) << text;
    return file;
  }

  TempFolder folder_;
};

// "no models in FOLDER": the folder that `models list` looked into.
std::string models_seen(const std::vector<std::string>& more,
                        const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words = {"models", "list"};
  words.insert(words.end(), more.begin(), more.end());
  const ProgramResult result = run_program(words, environment);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string start = "no models in ";
  EXPECT_EQ(result.out.rfind(start, 0), 0U) << result.out;
  return result.out.substr(start.size(), result.out.find(';') - start.size());
}

TEST_F(SettingsFile, CommandLineBeatsEnvironmentBeatsFile) {
  const std::string file =
      write("[all]\nmodels = \"/from/top\"\n[models]\nmodels = \"/from/section\"\n");
  const std::string none;
  EXPECT_EQ(models_seen({"--models", "/typed"},
                        {{"DIARIST_CONFIG", file}, {"DIARIST_MODELS", "/from/environment"}}),
            "/typed");
  EXPECT_EQ(models_seen({}, {{"DIARIST_CONFIG", file}, {"DIARIST_MODELS", "/from/environment"}}),
            "/from/environment");
  EXPECT_EQ(models_seen({}, {{"DIARIST_CONFIG", file}, {"DIARIST_MODELS", none}}), "/from/section");
  EXPECT_EQ(models_seen({"--config", file}, {{"DIARIST_MODELS", none}}), "/from/section");
  EXPECT_EQ(models_seen({}, {{"DIARIST_CONFIG", write("models = \"/from/top\"\n")},
                             {"DIARIST_MODELS", none}}),
            "/from/top");
}

TEST_F(SettingsFile, TheUsualPlaceIsRead) {
  std::filesystem::create_directory(folder_.path() / "diarist");
  std::filesystem::rename(write("models = \"/usual\"\n"), folder_.path() / "diarist/config.toml");
  const std::string command = "unset DIARIST_CONFIG DIARIST_MODELS; exec \"$0\" models list";
  const ProgramResult result = run_command({"sh", "-c", command, program().string()},
                                           {{"XDG_CONFIG_HOME", folder_.path().string()}});
  EXPECT_EQ(result.out.rfind("no models in /usual;", 0), 0U) << result.out << result.err;
}

TEST_F(SettingsFile, MistakesNameFileLineAndTheNearestKey) {
  const auto complaint = [&](const std::string& text) {
    const std::string file = write(text);
    const ProgramResult result = run_program({"models", "list", "--config", file});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    const std::string start = "diarist: " + file + ":";
    EXPECT_EQ(result.err.rfind(start, 0), 0U) << result.err;
    return result.err.substr(start.size());
  };
  EXPECT_EQ(complaint("\ndevise = \"cpu\"\n"), "2: unknown key devise (did you mean device?)\n");
  EXPECT_EQ(complaint("[run]\nthreads = 1\nfromat = \"json\"\n"),
            "3: unknown key fromat in [run] (did you mean format?)\n");
  EXPECT_EQ(complaint("[score]\npreset = \"open\"\n"), "2: unknown key preset in [score]\n");
  EXPECT_EQ(complaint("[models.pul]\nstall = 3\n"),
            "1: unknown section [models.pul] (did you mean pull?)\n");
  EXPECT_EQ(complaint("x = \n").rfind("1: ", 0), 0U);
  EXPECT_EQ(run_program({"models", "list", "--config", "/nowhere.toml"}).exit_code, 2);
  // Help is given all the same.
  EXPECT_EQ(run_program({"run", "--help", "--config", write("x = \n")}).exit_code, 0);
}

TEST_F(SettingsFile, WrongValuesTellWhereTheyComeFrom) {
  EXPECT_NE(run_program({"run", "a.wav"}, {{"DIARIST_PRECISION", "sloppy"}})
                .err.find("(from DIARIST_PRECISION)"),
            std::string::npos);
  const std::string file = write("[run]\nthreads = \"many\"\n");
  const ProgramResult number = run_program({"run", "a.wav", "--config", file});
  EXPECT_EQ(number.exit_code, 2);
  EXPECT_NE(number.err.find("(from " + file + ":2)"), std::string::npos) << number.err;
  const ProgramResult flag = run_program({"run", "a.wav"}, {{"DIARIST_EXCLUSIVE", "perhaps"}});
  EXPECT_EQ(flag.exit_code, 2);
  EXPECT_EQ(flag.err,
            "diarist: DIARIST_EXCLUSIVE: exclusive must be true or false, not 'perhaps'\n");
}

TEST_F(SettingsFile, ALowerRankDoesNotContradictAHigherOne) {
  // --weights and --preset exclude each other when both are typed.
  const ProgramResult typed = run_program(
      {"embed", "--preset", "open", "--weights", "/nowhere", "--out", "x.npy", "a.wav"});
  EXPECT_EQ(typed.exit_code, 2);
  EXPECT_NE(typed.err.find("excludes"), std::string::npos) << typed.err;
  const ProgramResult mixed = run_program(
      {"embed", "--weights", "/nowhere", "--out", (folder_.path() / "x.npy").string(), "a.wav"},
      {{"DIARIST_PRESET", "open"}});
  EXPECT_NE(mixed.exit_code, 2) << mixed.err;
  EXPECT_NE(mixed.err.find("/nowhere"), std::string::npos) << mixed.err;
}

TEST_F(SettingsFile, UnknownVariablesAndThoseOfTestsAreIgnored) {
  const ProgramResult result =
      run_program({"models", "list", "--models", "/nowhere"},
                  {{"DIARIST_NONSENSE", "1"}, {"DIARIST_TEST_JOBS", "x"}, {"DIARIST_DEVICE", "?"}});
  EXPECT_EQ(result.exit_code, 0);  // `models list` has no --device
  EXPECT_EQ(result.err, "");
}

TEST_F(SettingsFile, ConfigTellsValuesAndOriginsAndCanBeReadBack) {
  const std::string file =
      write("[run]\nthreads = 3\nexclusive = true\n[bench.embed]\nbatch = [1, 32]\n");
  const ProgramResult result = run_program(
      {"config", "--config", file}, {{"DIARIST_DEVICE", "cuda:1"}, {"DIARIST_MODELS", "/a \"b\""}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto has_line = [&](const std::string& start, const std::string& end) {
    std::istringstream text(result.out);
    for (std::string line; std::getline(text, line);)
      if (line.rfind(start, 0) == 0 && line.ends_with(end)) return true;
    return false;
  };
  EXPECT_TRUE(has_line("threads = 3 ", "# " + file + ":2")) << result.out;
  EXPECT_TRUE(has_line("exclusive = true ", "# " + file + ":3")) << result.out;
  EXPECT_TRUE(has_line("device = \"cuda:1\" ", "# DIARIST_DEVICE")) << result.out;
  EXPECT_TRUE(has_line("models = \"/a \\\"b\\\"\" ", "# DIARIST_MODELS")) << result.out;
  EXPECT_TRUE(has_line("step = 1 ", "# built in")) << result.out;
  EXPECT_TRUE(has_line("batch = [", "# " + file + ":5")) << result.out;
  EXPECT_TRUE(has_line("# num-speakers =", "# not set; DIARIST_NUM_SPEAKERS")) << result.out;
  const std::string copy = write(result.out);
  EXPECT_EQ(run_program({"config", "run", "--config", copy}).exit_code, 0);
  EXPECT_EQ(run_program({"config", "dance"}).exit_code, 2);
}

}  // namespace
}  // namespace diarist::test
