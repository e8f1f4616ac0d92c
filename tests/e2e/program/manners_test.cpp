// --quiet, --json-progress, --dry-run, progress on a terminal, colours.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/odd_audio.hpp"
#include "terminal.hpp"

namespace diarist::test {
namespace {

std::filesystem::path sample() { return sample_folder() / "sample.wav"; }

std::vector<std::string> files_below(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    files.push_back(std::filesystem::relative(entry.path(), folder).string());
  std::sort(files.begin(), files.end());
  return files;
}

// Every state that the line of progress had.
std::vector<std::string> states(const std::string& screen) {
  std::vector<std::string> lines;
  std::string rest = screen;
  const std::string start = "\r\033[K";
  for (std::size_t at = rest.find(start); at != std::string::npos; at = rest.find(start)) {
    rest.erase(0, at + start.size());
    const std::string line = rest.substr(0, rest.find('\r'));
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

class Manners : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(models_folder() / "open");
    DIARIST_NEED(sample());
  }
  std::string copy(const std::string& name) {
    const std::filesystem::path file = folder_.path() / name;
    std::filesystem::copy_file(sample(), file);
    return file.string();
  }
  TempFolder folder_;
};

TEST_F(Manners, ATerminalShowsOneLineWithBarRateAndTimeLeft) {
  const std::string a = copy("a.wav"), b = copy("b.wav");
  const TerminalResult result =
      run_in_terminal({}, {"run", "--preset", "open", "--threads", "1", a, b});
  EXPECT_EQ(result.code, 0);
  const std::vector<std::string> lines = states(result.err);
  ASSERT_GE(lines.size(), 2U) << result.err;
  bool rate = false, second = false;
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), 79U) << line;
    EXPECT_NE(line.find(" of 2 done, "), std::string::npos) << line;
    EXPECT_NE(line.find(" %"), std::string::npos) << line;
    rate = rate || (line.find(" x real time, 0:") != std::string::npos && line.ends_with(" left"));
    second = second || line.rfind("1 of 2 done, b.wav", 0) == 0;
  }
  EXPECT_TRUE(rate) << result.err;
  EXPECT_TRUE(second) << result.err;
  EXPECT_TRUE(result.err.ends_with("\r\033[K")) << "the line is taken away";
  EXPECT_EQ(result.err.find('\n'), std::string::npos);
  EXPECT_EQ(result.out.find('\033'), std::string::npos);
}

TEST_F(Manners, ANarrowTerminalAndOneThatChangesAreNotOverrun) {
  const std::string name = copy("日本語の会議 mit größerem Namen.wav");
  for (const auto& options : std::vector<std::vector<std::string>>{
           {"--columns", "20"}, {"--columns", "100", "--resize", "30"}}) {
    const TerminalResult result =
        run_in_terminal(options, {"run", "--preset", "open", "--threads", "1", name, name});
    EXPECT_EQ(result.code, 0);
    const std::vector<std::string> lines = states(result.err);
    ASSERT_GE(lines.size(), 2U);
    // Without wide characters a column is a code point; with them it is more.
    const auto code_points = std::count_if(lines.back().begin(), lines.back().end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
    EXPECT_LE(code_points, options[1] == "20" ? 19 : 29) << lines.back();
  }
}

TEST_F(Manners, NothingIsShownElsewhere) {
  for (const auto& [options, arguments] :
       std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>{
           {{"--no-terminal"}, {}}, {{}, {"--quiet"}}, {{"--no-terminal"}, {"-q"}}}) {
    std::vector<std::string> words = {"run", "--preset", "open-lite", sample().string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const TerminalResult result = run_in_terminal(options, words);
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out.rfind("SPEAKER sample 1 ", 0), 0U);
  }
}

TEST_F(Manners, QuietKeepsErrorsAndDropsWarnings) {
  const std::filesystem::path silence = folder_.path() / "silence.wav";
  write_bytes(silence, wav_pcm16(std::vector<float>(16000, 0.0F)));
  const std::vector<std::string> words = {"run", "--preset",      "open-lite", "--min-speakers",
                                          "2",   silence.string()};
  EXPECT_NE(run_program(words).err.find("warning"), std::string::npos);
  std::vector<std::string> quiet = words;
  quiet.insert(quiet.end(), {"/nowhere.wav", "--quiet"});
  const ProgramResult result = run_program(quiet);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err.rfind("diarist: /nowhere.wav: no such file", 0), 0U) << result.err;
  EXPECT_EQ(run_program(words, {{"DIARIST_QUIET", "1"}}).err, "");
}

TEST_F(Manners, JsonProgressIsOneObjectPerLine) {
  const std::filesystem::path silence = folder_.path() / "silence.wav";
  write_bytes(silence, wav_pcm16(std::vector<float>(16000, 0.0F)));
  const std::vector<std::string> inputs = {sample().string(), "/nowhere.wav", silence.string()};
  std::vector<std::string> words = {
      "run", "--preset", "open-lite", "--json-progress", "--min-speakers", "2", "--timings"};
  words.insert(words.end(), inputs.begin(), inputs.end());
  // On a terminal it is the same: no line that is written over.
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"--no-terminal"}, {}}) {
    const TerminalResult result = run_in_terminal(options, words);
    EXPECT_EQ(result.code, 1);
    std::map<std::string, std::vector<nlohmann::json>> events;
    std::string order;
    std::istringstream text(result.err);
    for (std::string line; std::getline(text, line);) {
      if (line.ends_with('\r')) line.pop_back();  // terminals add it
      const nlohmann::json event = nlohmann::json::parse(line);
      const std::string name = event.at("event");
      if (events[name].empty()) order += name + " ";
      events[name].push_back(event);
    }
    EXPECT_EQ(order, "start progress finished error failed warning note end ");
    EXPECT_EQ(events["start"].at(0).at("version"), 1);
    EXPECT_EQ(events["start"].at(0).at("recordings"), 3);
    double before = 0;
    for (const nlohmann::json& event : events["progress"]) {
      EXPECT_EQ(event.at("recording"), inputs[event.at("index").get<std::size_t>()]);
      EXPECT_GE(event.at("fraction").get<double>(), before);
      EXPECT_LE(event.at("fraction").get<double>(), 1.0);
      before = event.at("fraction");
      EXPECT_TRUE(event.at("stage") == "networks" || event.at("stage") == "clustering");
      EXPECT_LE(event.at("done_seconds").get<double>(), event.at("total_seconds").get<double>());
    }
    EXPECT_EQ(events["finished"].size(), 2U);
    EXPECT_NEAR(events["finished"].at(0).at("audio_seconds").get<double>(), 30.0, 1e-6);
    EXPECT_EQ(events["finished"].at(1).at("done"), 3);
    EXPECT_EQ(events["failed"].at(0).at("recording"), "/nowhere.wav");
    EXPECT_EQ(events["warning"].at(0).at("recording"), silence.string());
    EXPECT_EQ(events["warning"].at(0).at("text"), "at least 2 speakers asked for, 0 found");
    EXPECT_EQ(events["end"].at(0).at("exit_code"), 1);
  }
  const ProgramResult usage = run_program({"run", "--json-progress", "--fromat", "x"});
  EXPECT_EQ(usage.exit_code, 2);
  EXPECT_EQ(nlohmann::json::parse(usage.err).at("event"), "error");
}

TEST_F(Manners, DryRunChecksTellsAndWritesNothing) {
  const std::string a = copy("a.wav");
  const std::string out = (folder_.path() / "deep" / "out").string();
  const std::vector<std::string> before = files_below(folder_.path());
  const ProgramResult fine =
      run_program({"run", "--dry-run", "--preset", "open-lite", "--out", out, a});
  EXPECT_EQ(fine.exit_code, 0) << fine.err;
  EXPECT_EQ(fine.out, "would diarize 1 recording with preset open-lite on cpu\n" + a + " -> " +
                          out + "/a.rttm\n");
  const ProgramResult stages =
      run_program({"run", "--dry-run", "--preset", "open-lite", "--save-stages", out, a});
  EXPECT_NE(stages.out.find(out + "/embeddings.npy"), std::string::npos) << stages.out;
  // Exit codes are those of a run.
  EXPECT_EQ(run_program({"run", "--dry-run", "--preset", "open-lite", a, "/nowhere.wav"}).exit_code,
            1);
  EXPECT_EQ(run_program({"run", "--dry-run", "--preset", "open-lite", "--num-speakers", "0", a})
                .exit_code,
            2);
  EXPECT_EQ(run_program({"run", "--dry-run", "--models", folder_.path().string(), a}).exit_code, 3);
  EXPECT_EQ(run_program({"run", "--dry-run", "--preset", "open-lite", "--out", a, a}).exit_code, 2);
  std::ofstream(folder_.path() / "text.wav") << "this is no sound";
  EXPECT_EQ(run_program({"run", "--dry-run", "--preset", "open-lite",
                         (folder_.path() / "text.wav").string()})
                .exit_code,
            1);
  std::filesystem::remove(folder_.path() / "text.wav");
  const ProgramResult embed = run_program({"embed", "--dry-run", "--preset", "open-lite", a,
                                           "--out", (folder_.path() / "voice.npy").string()});
  EXPECT_EQ(embed.exit_code, 0) << embed.err;
  EXPECT_NE(embed.out.find("192 numbers"), std::string::npos) << embed.out;
  const ProgramResult pull = run_program({"models", "pull", "--dry-run", "community-1", "--models",
                                          (folder_.path() / "models").string()});
  EXPECT_EQ(pull.exit_code, 0) << pull.err;
  EXPECT_NE(pull.out.find("would fetch community-1"), std::string::npos) << pull.out;
  EXPECT_EQ(files_below(folder_.path()), before);
}

TEST_F(Manners, EmbeddingsCanGoToStandardOutput) {
  const std::filesystem::path file = folder_.path() / "voice.npy";
  ASSERT_EQ(
      run_program({"embed", "--preset", "open-lite", sample().string(), "--out", file.string()})
          .exit_code,
      0);
  const ProgramResult piped =
      run_program({"embed", "--preset", "open-lite", sample().string(), "--out", "-"});
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  EXPECT_EQ(piped.out, bytes.str());
}

TEST(Colours, OnlyOnATerminalThatWantsThem) {
  const std::vector<std::string> wrong = {"run", "--fromat", "x"};
  EXPECT_EQ(run_in_terminal({}, wrong).err.rfind("\033[31mdiarist:\033[0m ", 0), 0U);
  for (const std::map<std::string, std::string>& environment :
       std::vector<std::map<std::string, std::string>>{
           {{"NO_COLOR", "1"}}, {{"TERM", "dumb"}}, {{"TERM", ""}}})
    EXPECT_EQ(run_in_terminal({}, wrong, environment).err.find('\033'), std::string::npos);
  EXPECT_EQ(run_in_terminal({"--no-terminal"}, wrong).err.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace diarist::test
