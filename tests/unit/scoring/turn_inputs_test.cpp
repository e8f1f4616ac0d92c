// Files, folders and lists of turns.

#include "diarist/turn_inputs.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "diarist/error.hpp"
#include "support/support.hpp"

namespace diarist {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::string line(const std::string& uri, const std::string& label = "A") {
  return "SPEAKER " + uri + " 1 0 1 <NA> <NA> " + label + " <NA> <NA>\n";
}

std::string problem(const std::string& what, ErrorCode code) {
  try {
    read_turn_inputs(what);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << what << " was read";
  return "";
}

TEST(TurnInputs, AFileMayHoldSeveralRecordings) {
  const test::TempFolder folder;
  write(folder.path() / "two.rttm", line("a") + line("b"));
  const TurnInputs inputs = read_turn_inputs((folder.path() / "two.rttm").string());
  EXPECT_EQ(inputs.turns.size(), 2U);
  EXPECT_EQ(inputs.files.size(), 1U);
  EXPECT_TRUE(inputs.notes.empty());
}

TEST(TurnInputs, AFolderIsReadInOrderAndSaysWhatItPassesOver) {
  const test::TempFolder folder;
  write(folder.path() / "b.rttm", line("b") + line("c"));
  write(folder.path() / "A.RTTM", line("a"));
  write(folder.path() / "silent.rttm", "");
  write(folder.path() / "a.json", "{}");
  write(folder.path() / "notes.md", "x");
  write(folder.path() / ".hidden.rttm", line("h"));
  write(folder.path() / "below" / "d.rttm", line("d"));
  const TurnInputs inputs = read_turn_inputs(folder.path().string());
  ASSERT_EQ(inputs.turns.size(), 4U);
  EXPECT_TRUE(inputs.turns.at("silent").empty());
  EXPECT_EQ(inputs.files.size(), 3U);
  EXPECT_EQ(inputs.files[0].filename(), "A.RTTM");
  ASSERT_EQ(inputs.notes.size(), 1U);
  EXPECT_NE(inputs.notes[0].find("2 files that are not rttm"), std::string::npos)
      << inputs.notes[0];
}

TEST(TurnInputs, AListNamesFilesFromItsOwnFolder) {
  const test::TempFolder folder;
  write(folder.path() / "turns" / "a b.rttm", line("a"));
  write(folder.path() / "c.rttm", line("c"));
  write(folder.path() / "all.txt", "\xEF\xBB\xBF# reference\r\n\r\n  turns/a b.rttm \r\n" +
                                       (folder.path() / "c.rttm").string());
  const TurnInputs inputs = read_turn_inputs("@" + (folder.path() / "all.txt").string());
  EXPECT_EQ(inputs.turns.size(), 2U);
  EXPECT_TRUE(inputs.turns.contains("a"));
}

TEST(TurnInputs, ARecordingIsInOneFileOnly) {
  const test::TempFolder folder;
  write(folder.path() / "one.rttm", line("a"));
  write(folder.path() / "two.rttm", line("a"));
  const std::string text = problem(folder.path().string(), ErrorCode::kInvalidArgument);
  for (const char* part : {"'a'", "one.rttm", "two.rttm"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(TurnInputs, WhatIsNotThereIsSaid) {
  const test::TempFolder folder;
  problem((folder.path() / "none.rttm").string(), ErrorCode::kNotFound);
  problem("@" + (folder.path() / "none.txt").string(), ErrorCode::kNotFound);
  problem(folder.path().string(), ErrorCode::kNotFound);
  write(folder.path() / "all.txt", "# nothing\n");
  problem("@" + (folder.path() / "all.txt").string(), ErrorCode::kBadFile);
  write(folder.path() / "all.txt", "gone.rttm\n");
  problem("@" + (folder.path() / "all.txt").string(), ErrorCode::kNotFound);
  write(folder.path() / "x" / "a.csv", "");
  write(folder.path() / "x" / "a.json", "");
  const std::string text = problem((folder.path() / "x").string(), ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("csv"), std::string::npos) << text;
}

TEST(RegionInputs, FileFolderAndList) {
  const test::TempFolder folder;
  write(folder.path() / "uem" / "a.uem", "a 1 0 5\n");
  write(folder.path() / "uem" / "b.UEM", "b 1 1 2\na 1 7 8\n");
  write(folder.path() / "uem" / "c.txt", "c 1 1 2\n");
  write(folder.path() / "some.txt", "uem/a.uem\n");
  const Regions all = read_region_inputs((folder.path() / "uem").string());
  EXPECT_EQ(all, (Regions{{"a", {{0, 5}, {7, 8}}}, {"b", {{1, 2}}}}));
  EXPECT_EQ(read_region_inputs(std::string("@").append((folder.path() / "some.txt").string())),
            (Regions{{"a", {{0, 5}}}}));
  EXPECT_EQ(read_region_inputs((folder.path() / "uem" / "a.uem").string()),
            (Regions{{"a", {{0, 5}}}}));
  EXPECT_THROW(read_region_inputs(folder.path().string()), Error);
}

TEST(PathList, RefusesAZeroByte) {
  EXPECT_THROW(parse_path_list(std::string("a\0b\n", 4), "list", ""), Error);
  EXPECT_EQ(parse_path_list("a\n#b\nc", "list", "f"),
            (std::vector<fs::path>{fs::path("f") / "a", fs::path("f") / "c"}));
}

}  // namespace
}  // namespace diarist
