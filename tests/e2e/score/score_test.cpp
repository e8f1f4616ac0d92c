// diarist score and diarist diff as a user runs them.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/program.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

using nlohmann::json;

std::string line(const std::string& uri, const std::string& times, const std::string& label) {
  return "SPEAKER " + uri + " 1 " + times + " <NA> <NA> " + label + " <NA> <NA>\n";
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Three recordings; the hypothesis has DER 10 %, 20 %, 0 % of 10 s each, the second system 30 %,
/// 20 %, 50 %.
class ProgramScore : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* uri : {"a", "b", "c"})
      write("ref/" + std::string(uri), line(uri, "0 10", "A"));
    write("hyp/a", line("a", "0 9", "x"));
    write("hyp/b", line("b", "0 8", "x"));
    write("hyp/c", line("c", "0 10", "x"));
    write("second/a", line("a", "0 7", "x"));
    write("second/b", line("b", "0 8", "x"));
    write("second/c", line("c", "0 5", "x"));
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string list(const std::string& name) const { return std::string("@").append(path(name)); }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_.path() / (name + ".rttm");
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  static json report(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }

 private:
  TempFolder folder_;
};

TEST_F(ProgramScore, FoldersListsAndFilesSayTheSame) {
  const json folders = report({"score", path("ref"), path("hyp")});
  ASSERT_EQ(folders["files"].size(), 3U);
  EXPECT_DOUBLE_EQ(folders["total"]["der"].get<double>(), 0.1);
  EXPECT_EQ(folders["files"][1]["mapping"][0]["hypothesis"], "x");
  EXPECT_EQ(folders["speaker_count"]["exact"], 3);

  std::ofstream(path("ref.txt")) << "# all\nref/c.rttm\nref/a.rttm\nref/b.rttm\n";
  write("all", line("a", "0 9", "x") + line("b", "0 8", "x") + line("c", "0 10", "x"));
  const json others = report({"score", list("ref.txt"), path("all.rttm")});
  EXPECT_EQ(others, folders);
}

TEST_F(ProgramScore, EveryFormat) {
  const ProgramResult table = run_program({"score", path("ref"), path("hyp"), "--mapping"});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_TRUE(table.err.empty()) << table.err;
  EXPECT_NE(table.out.find("total  10.00"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("together s"), std::string::npos) << table.out;
  const ProgramResult markdown =
      run_program({"score", path("ref"), path("hyp"), "--format", "markdown"});
  EXPECT_EQ(markdown.out.rfind("# Diarization scores\n", 0), 0U) << markdown.out;
  const ProgramResult csv = run_program({"score", path("ref"), path("hyp"), "--format", "csv"});
  EXPECT_EQ(lines(csv.out), 5U) << csv.out;
  const ProgramResult asked = run_program({"score", path("ref"), path("hyp"), "--format", "json"});
  EXPECT_EQ(asked.out, run_program({"score", path("ref"), path("hyp"), "--json"}).out);
  for (const char* format : {"xml", "rttm", "0"}) {
    EXPECT_EQ(run_program({"score", path("ref"), path("hyp"), "--format", format}).exit_code, 2);
  }
}

TEST_F(ProgramScore, UemRestrictsRecordingsAndRegions) {
  std::ofstream(path("all.uem")) << "a 1 0 5\nb NA 5 10\n";
  const json scored = report({"score", path("ref"), path("hyp"), "--uem", path("all.uem")});
  ASSERT_EQ(scored["files"].size(), 2U);
  EXPECT_EQ(scored["files"][0]["der"], 0.0);
  EXPECT_DOUBLE_EQ(scored["files"][1]["der"].get<double>(), 0.4);
  EXPECT_EQ(scored["outside_uem"], json::array({"c"}));
  EXPECT_EQ(scored["uem"], true);
  EXPECT_EQ(run_program({"score", path("ref"), path("hyp"), "--uem", path("no.uem")}).exit_code, 1);
}

TEST_F(ProgramScore, IntervalsAndComparison) {
  const std::vector<std::string> command = {"score", path("ref"), path("hyp"),   "--bootstrap",
                                            "500",   "--compare", path("second")};
  const json both = report(command);
  EXPECT_EQ(both["intervals"]["resamples"], 500);
  EXPECT_EQ(both["intervals"]["seed"], 1);
  EXPECT_LE(both["intervals"]["der"]["low"], 0.1);
  EXPECT_GE(both["intervals"]["der"]["high"], 0.1);
  const json& comparison = both["comparison"];
  EXPECT_NEAR(comparison["difference"]["estimate"].get<double>(), -0.7 / 3, 1e-12);
  EXPECT_EQ(comparison["first_better"], 2);
  EXPECT_EQ(comparison["equal"], 1);
  // Differences -2 and -5: 7 in two of four swaps.
  EXPECT_EQ(comparison["permutation_p"], 0.5);
  EXPECT_EQ(run_program(command).out, run_program(command).out);
  const ProgramResult wrong =
      run_program({"score", path("ref"), path("hyp"), "--bootstrap", "100", "--level", "95"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("e.g. 0.95"), std::string::npos) << wrong.err;
  EXPECT_EQ(run_program({"score", path("ref"), path("hyp"), "--bootstrap", "0"}).exit_code, 2);
}

TEST_F(ProgramScore, NothingToScoreIsAResult) {
  write("short", line("r", "0 1.8", "A") + line("r", "0.4 1.1", "B"));
  write("empty", "");
  for (const char* hypothesis : {"short.rttm", "empty.rttm"}) {
    for (const char* format : {"table", "json", "markdown", "csv"}) {
      const ProgramResult result =
          run_program({"score", path("short.rttm"), path(hypothesis), "--collar", "1.0", "--format",
                       format, "--bootstrap", "10"});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(result.out.find("nan"), std::string::npos) << result.out;
      EXPECT_EQ(result.out.find("inf"), std::string::npos) << result.out;
    }
  }
  EXPECT_EQ(report({"score", path("short.rttm"), path("short.rttm"), "--collar",
                    "1"})["total"]["nothing_scored"],
            true);
  EXPECT_EQ(report({"score", path("empty.rttm"), path("hyp")})["total"]["der"], 1.0);
  EXPECT_EQ(report({"score", path("empty.rttm"), path("empty.rttm")})["total"]["der"], 0.0);
}

TEST_F(ProgramScore, WarningsOfManyRecordingsAreCounted) {
  std::string reference;
  for (int i = 0; i < 30; ++i) {
    reference += line(std::string("r").append(std::to_string(i)), "0 1", "A");
  }
  write("many", reference);
  write("empty", "");
  const ProgramResult result = run_program({"score", path("many.rttm"), path("empty.rttm")});
  EXPECT_EQ(lines(result.err), 21U) << result.err;
  EXPECT_NE(result.err.find("and 10 more"), std::string::npos) << result.err;
}

TEST_F(ProgramScore, DiffTellsTheWorstFirstAndItsExitCode) {
  const ProgramResult same = run_program({"diff", path("hyp"), path("hyp"), "--exit-code"});
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_NE(same.out.find("no difference"), std::string::npos) << same.out;

  const std::vector<std::string> command = {"diff", path("hyp"), path("second")};
  const ProgramResult table = run_program(command);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_LT(table.out.find("5.000  boundary"), table.out.find("2.000  boundary")) << table.out;
  const json changes = report(command);
  EXPECT_EQ(changes["identical"], false);
  ASSERT_EQ(changes["changes"].size(), 2U);
  EXPECT_EQ(changes["changes"][0]["uri"], "c");
  EXPECT_EQ(changes["changes"][0]["kind"], "boundary");
  EXPECT_EQ(changes["changes"][0]["start"], 5.0);
  EXPECT_EQ(changes["seconds"]["boundary"], 7.0);
  EXPECT_EQ(changes["seconds"]["same"], 20.0);
  EXPECT_EQ(run_program({"diff", path("hyp"), path("second"), "--exit-code"}).exit_code, 4);
  EXPECT_EQ(run_program({"diff", path("hyp"), path("none"), "--exit-code"}).exit_code, 1);
  EXPECT_EQ(run_program({"diff", path("hyp"), path("second"), "--exit-code", "--min-seconds", "6"})
                .exit_code,
            0);
  const ProgramResult top = run_program({"diff", path("hyp"), path("second"), "--top", "1"});
  EXPECT_NE(top.out.find("and 1 shorter ones"), std::string::npos) << top.out;
}

TEST_F(ProgramScore, BadInputIsOneLineAndTheRightCode) {
  std::ofstream(path("list.txt")) << "gone.rttm\n";
  for (const std::string& what : {path("none"), list("list.txt"), list("no.txt")}) {
    const ProgramResult result = run_program({"score", path("ref"), what});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_EQ(lines(result.err), 1U) << result.err;
    EXPECT_TRUE(result.out.empty());
  }
  EXPECT_EQ(run_program({"score", path("ref"), path("hyp"), "--collar", "-1"}).exit_code, 2);
  EXPECT_EQ(run_program({"diff", path("ref")}).exit_code, 2);
}

}  // namespace
}  // namespace diarist::test
