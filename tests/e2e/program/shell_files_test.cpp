// Help, manual pages and completions: what every verb owes to a shell.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "support/program.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

bool have(const std::string& tool) {
  return run_command({"sh", "-c", "command -v " + tool}).exit_code == 0;
}

// Words of every verb, as the pages are called: diarist-models-pull.1.
std::vector<std::vector<std::string>> verbs() {
  const TempFolder folder;
  EXPECT_EQ(run_program({"man", "--out", folder.path().string()}).exit_code, 0);
  std::vector<std::vector<std::string>> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    std::istringstream name(entry.path().stem().string().substr(std::string("diarist").size()));
    std::vector<std::string> words;
    for (std::string word; std::getline(name, word, '-');)
      if (!word.empty()) words.push_back(word);
    all.push_back(words);
  }
  return all;
}

TEST(Help, EveryVerbHasGroupsAndExamplesAndNoControlCharacters) {
  const std::vector<std::vector<std::string>> all = verbs();
  ASSERT_GE(all.size(), 16U);
  for (std::vector<std::string> words : all) {
    std::string command = "diarist";
    for (const std::string& word : words) command += " " + word;
    words.push_back("--help");
    const ProgramResult result = run_program(words);
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_EQ(result.err, "") << command;
    EXPECT_NE(result.out.find("Usage: " + command), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("\nExample"), std::string::npos) << command << " has no example";
    EXPECT_NE(result.out.find("\nGeneral:\n"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find('\033'), std::string::npos) << result.out;
    // Options of a group called "Options" were not sorted in.
    EXPECT_EQ(result.out.find("\nOptions:\n"), std::string::npos)
        << command << ": options without a group; see cli/option_facts.cpp\n"
        << result.out;
  }
}

TEST(Help, TheFirstTextIsShort) {
  const ProgramResult result = run_program({"--help"});
  EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 45);
  EXPECT_NE(result.out.find("diarist models pull open"), std::string::npos);
}

TEST(ManPages, AreCleanAndNameEveryOption) {
  const TempFolder folder;
  ASSERT_EQ(run_program({"man", "--out", folder.path().string()}).exit_code, 0);
  const bool mandoc = have("mandoc"), man = have("man");
  if (!mandoc && !man) GTEST_SKIP() << "needs mandoc or man";
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string page = entry.path().string();
    if (mandoc) {
      const ProgramResult lint = run_command({"mandoc", "-Tlint", "-W", "warning", page});
      EXPECT_EQ(lint.out + lint.err, "");
    }
    if (man) {
      const ProgramResult warned = run_command(
          {"sh", "-c", "man --warnings -E UTF-8 -l -Tutf8 \"$1\" >/dev/null", "sh", page});
      EXPECT_EQ(warned.err, "") << page;
    }
  }
  // What stands in the help stands in the page.
  const std::string text = read(folder.path() / "diarist-run.1");
  const std::string help = run_program({"run", "--help"}).out;
  const std::regex option("\n +(?:-., )?--([a-z-]+)");
  int options = 0;
  for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it, ++options) {
    const std::string escaped = std::regex_replace((*it)[1].str(), std::regex("-"), "\\-");
    EXPECT_NE(text.find("\\-\\-" + escaped), std::string::npos) << (*it)[1];
  }
  EXPECT_GE(options, 20);
  EXPECT_EQ(read(folder.path() / "diarist-run.1"), run_program({"man", "run"}).out);
  EXPECT_EQ(run_program({"man", "dance"}).exit_code, 2);
}

// What bash offers for a line whose last word is being typed.
std::vector<std::string> offered(const std::string& words) {
  const ProgramResult result = run_command(
      {"bash", "--norc", "-c",
       "source <(\"$1\" completions bash); COMP_WORDS=(" + words +
           "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _diarist; printf '%s\\n' \"${COMPREPLY[@]}\"",
       "bash", program().string()});
  EXPECT_EQ(result.err, "") << words;
  std::vector<std::string> lines;
  std::istringstream text(result.out);
  for (std::string line; std::getline(text, line);)
    if (!line.empty()) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(Completions, BashOffersVerbsOptionsNamesAndFiles) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(offered("diarist mo"), Words{"models"});
  EXPECT_EQ(offered("diarist models p"), Words{"pull"});
  EXPECT_EQ(offered("diarist models pull c"), Words{"community-1"});
  EXPECT_EQ(offered("diarist run --num"), Words{"--num-speakers"});
  EXPECT_EQ(offered("diarist run --preset open"), (Words{"open", "open-lite"}));
  EXPECT_EQ(offered("diarist run --device c"), (Words{"cpu", "cuda", "cuda:0"}));
  EXPECT_EQ(offered("diarist run --device = re"), Words{"reference"});
  EXPECT_EQ(offered("diarist run a.wav --precision f"), Words{"fast"});
  EXPECT_EQ(offered("diarist run --threads ''"), Words{});
  EXPECT_EQ(offered("diarist bench run --precision t"), Words{"tf32"});
  EXPECT_EQ(offered("diarist completions z"), Words{"zsh"});
  const Words formats = offered("diarist run --format ''");
  for (const char* format : {"json", "rttm", "table"})
    EXPECT_EQ(std::count(formats.begin(), formats.end(), format), 1) << format;

  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "stages");
  std::ofstream(folder.path() / "two words.wav") << "x";
  const std::string start = folder.path().string() + "/";
  EXPECT_EQ(offered("diarist run " + start), (Words{start + "stages", start + "two words.wav"}));
  EXPECT_EQ(offered("diarist run --models " + start), Words{start + "stages"});
}

TEST(Completions, OtherShellsReadTheirs) {
  int shells = 0;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    if (!have(shell)) continue;
    ++shells;
    const TempFolder folder;
    const std::string file = (folder.path() / "script").string();
    std::ofstream(file) << run_program({"completions", shell}).out;
    const ProgramResult result = run_command({shell, "-n", file});
    EXPECT_EQ(result.exit_code, 0) << shell;
    EXPECT_EQ(result.out + result.err, "") << shell;
  }
  if (shells == 0) GTEST_SKIP() << "needs a shell";
}

TEST(Completions, FishOffersNamesOfOptions) {
  if (!have("fish")) GTEST_SKIP() << "needs fish";
  const TempFolder home;
  const auto offers = [&](const std::string& line) {
    return run_command({"fish", "--no-config", "-c",
                        "$argv[1] completions fish | source; complete -C $argv[2]",
                        program().string(), line},
                       {{"HOME", home.path().string()}})
        .out;
  };
  EXPECT_NE(offers("diarist mod").find("models\t"), std::string::npos) << offers("diarist mod");
  // Newer fish adds the text of the option behind a tab.
  EXPECT_EQ(offers("diarist run --preset open-").rfind("open-lite", 0), 0U);
  EXPECT_EQ(offers("diarist bench run --precision t").rfind("tf32", 0), 0U);
  EXPECT_NE(offers("diarist models pull comm").find("community-1"), std::string::npos);
}

TEST(Usage, NearMissesAreNamed) {
  const auto complaint = [](const std::vector<std::string>& words) {
    const ProgramResult result = run_program(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  EXPECT_EQ(complaint({"rnu", "a.wav"}),
            "diarist: unknown verb 'rnu' (did you mean run?); see diarist --help\n");
  EXPECT_EQ(complaint({"models", "pul", "open"}),
            "diarist: unknown verb 'pul' (did you mean pull?); see diarist models --help\n");
  EXPECT_EQ(complaint({"run", "--fromat=json", "a.wav"}),
            "diarist: unknown option --fromat (did you mean --format?); see diarist run --help\n");
  EXPECT_EQ(complaint({"run", "--fromat"}),
            "diarist: unknown option --fromat (did you mean --format?); see diarist run --help\n");
  EXPECT_EQ(complaint({"run", "--zzzzzzzz", "a.wav"}),
            "diarist: unknown option --zzzzzzzz; see diarist run --help\n");
}

}  // namespace
}  // namespace diarist::test
