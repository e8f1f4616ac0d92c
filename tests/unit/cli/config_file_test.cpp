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

TEST(ConfigFile, WhatIsNotUnderstoodIsRefusedWithItsLine) {
  const std::string value = "1: a value must be text in quotes, a number, true, false, or a list";
  for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"a = 1\nb = = 2\n",
            "2: a value must be text in quotes, a number, true, false, or a list"},
           {"device = cuda\n", value},
           {"day = 2025-01-01T00:00\n", value},
           {"a = +-.e\n", value},
           {"a = [[1]]\n", value},
           {"a = \n", value},
           {"a = 1\na = 2\n", "2: a was there before"},
           {"[run]\n[models]\n[run]\n", "3: this section was there before"},
           {"a = []\n", "1: a has an empty list"},
           {"a = [1, 2\nb = 3\n", "2: ',' or ']' is missing in a"},
           {"a = [1 2]\n", "1: ',' or ']' is missing in a"},
           {"a = [", value},
           {"\"\" = 1\n", "1: the name of a key or section is missing"},
           {"= 1\n", "1: the name of a key or section is missing"},
           {"[=\n", "1: the name of a key or section is missing"},
           {"[run\nx = 1\n", "1: ']' is missing behind the section"},
           {"[[run]]\n", "1: a section stands in single brackets"},
           {std::string(100000, '['), "1: a section stands in single brackets"},
           {"a\n", "1: '=' is missing behind a"},
           {"gr\xC3\xB6\xC3\x9F"
            "e = 1\n",
            "1: '=' is missing behind gr"},
           {"a = \"x\n\"\n", "1: a quote is missing at the end of a text"},
           {"a = \"x\\", "1: a quote is missing at the end of a text"},
           {"a = \"C:\\data\"\n", "1: an unknown escape; a backslash is written as two"},
           {"a = \"\\uD800\"\n", "1: no character has this number"},
           {"a = \"\\u12\"\n", "1: no character has this number"},
           {"a = \"\"\"x\"\"\"\n", "1: text must stand on one line, in single or double quotes"},
           {"a = 1 b = 2\n", "1: text behind the end of a value or section"},
           {"a = 3\xCD\xB5\n", "1: text behind the end of a value or section"}})
    EXPECT_EQ(refusal(text), "c.toml:" + complaint) << text.substr(0, 80);
}

// As Python's tomllib reads it.
TEST(ConfigFile, TextNumbersAndListsAreThoseOfToml) {
  const std::vector<ConfigEntry> entries = parse_config(
      "\xEF\xBB\xBF# f\xC3\xBCr alle\r\n"
      "names = [ # who\n  \"J\\\"\\u00f6rg # 1\",\n  '\xE6\x97\xA5\xE6\x9C\xAC',\n]\r\n"
      "run.\"max-gpu-memory\" = 1_000\n"
      "path = 'C:\\data'\n"
      "tab = \"a\\tb\\U0001F600\"",
      "c");
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].values,
            (std::vector<std::string>{"J\"\xC3\xB6rg # 1", "\xE6\x97\xA5\xE6\x9C\xAC"}));
  EXPECT_EQ(entries[1].section, std::vector<std::string>{"run"});
  EXPECT_EQ(entries[1].key, "max-gpu-memory");
  EXPECT_EQ(entries[1].values, std::vector<std::string>{"1000"});
  EXPECT_EQ(entries[1].line, 6);
  EXPECT_EQ(entries[2].values, std::vector<std::string>{"C:\\data"});
  EXPECT_EQ(entries[3].values, std::vector<std::string>{"a\tb\xF0\x9F\x98\x80"});
}

TEST(ConfigFile, NothingIsAConfigurationToo) {
  EXPECT_TRUE(parse_config("", "c.toml").empty());
  EXPECT_TRUE(read_config("/dev/null").empty());
  EXPECT_THROW(read_config("/nowhere/config.toml"), Error);
  EXPECT_THROW(read_config("/"), Error);
}

}  // namespace
}  // namespace diarist::cli
