#include "config_file.hpp"

#include <gtest/gtest.h>

#include "diarist/error.hpp"

namespace diarist::cli {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_config(text, "c.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

TEST(ConfigFile, KeysKeepSectionsValuesAndLines) {
  const std::vector<ConfigEntry> entries = parse_config(
      "# a comment\n"
      "device = \"cuda\"\n"
      "threads = 4\n"
      "\n"
      "[models.pull]\n"
      "stall = 60\n"
      "[run]\n"
      "exclusive = true\n"
      "pad = 0.25\n"
      "names = [\"Ann\", \"Ben, jr.\"]\n",
      "c.toml");
  const auto find = [&](const std::string& key) {
    for (const ConfigEntry& entry : entries)
      if (entry.key == key) return entry;
    return ConfigEntry{};
  };
  EXPECT_EQ(find("device").values, std::vector<std::string>{"cuda"});
  EXPECT_EQ(find("device").line, 2);
  EXPECT_TRUE(find("device").section.empty());
  EXPECT_EQ(find("threads").values, std::vector<std::string>{"4"});
  EXPECT_EQ(find("stall").section, (std::vector<std::string>{"models", "pull"}));
  EXPECT_EQ(find("stall").line, 6);
  EXPECT_EQ(find("exclusive").values, std::vector<std::string>{"true"});
  EXPECT_EQ(find("pad").values, std::vector<std::string>{"0.25"});
  EXPECT_EQ(find("names").values, (std::vector<std::string>{"Ann", "Ben, jr."}));
}

TEST(ConfigFile, WhatIsNoTomlIsRefusedWithItsLine) {
  EXPECT_EQ(refusal("a = 1\nb = = 2\n").rfind("c.toml:2: ", 0), 0U) << refusal("a = 1\nb = = 2\n");
  EXPECT_EQ(refusal("device = cuda\n").rfind("c.toml:1: ", 0), 0U);
  EXPECT_EQ(refusal("a = 1\na = 2\n").rfind("c.toml:2: ", 0), 0U);
  EXPECT_EQ(refusal("\n\nday = 2025-01-01\n"),
            "c.toml:3: a value must be text in quotes, a number, true, false, or a list");
  EXPECT_EQ(refusal("\"\" = 1\n"), "c.toml:1: a key without a name");
  EXPECT_EQ(refusal("a = []\n"), "c.toml:1: a has an empty list");
  EXPECT_EQ(refusal("a = [[1]]\n").rfind("c.toml:1: a value must be", 0), 0U);
  EXPECT_EQ(refusal("a = \"\xFF\"\n").rfind("c.toml:1: ", 0), 0U);
  EXPECT_EQ(refusal(std::string(100000, '[')).rfind("c.toml:1: ", 0), 0U);
}

TEST(ConfigFile, NothingIsAConfigurationToo) {
  EXPECT_TRUE(parse_config("", "c.toml").empty());
  EXPECT_TRUE(read_config("/dev/null").empty());
  EXPECT_THROW(read_config("/nowhere/config.toml"), Error);
  EXPECT_THROW(read_config("/"), Error);
}

}  // namespace
}  // namespace diarist::cli
