// diarist bench embed and diarist tune as a user calls them.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/program.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

TEST(BenchCommand, PrintsATable) {
  const ProgramResult result =
      run_program({"bench", "embed", "--batch", "1", "--seconds", "0", "--no-check"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* word : {"chunks/s", "h2d", "worst cosine", "exact", "random (He)"})
    EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in\n" << result.out;
}

TEST(BenchCommand, PrintsJson) {
  const ProgramResult result = run_program(
      {"bench", "embed", "--batch", "1,2", "--seconds", "0", "--no-check", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("device"), "cpu");
  ASSERT_EQ(json.at("rows").size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const nlohmann::json& row = json.at("rows").at(i);
    EXPECT_EQ(row.at("batch"), i + 1);
    EXPECT_EQ(row.at("precision"), "exact");
    EXPECT_TRUE(row.at("graph").is_null());
    EXPECT_TRUE(row.at("worst_cosine").is_null());
    EXPECT_GT(row.at("compute").at("median_ms").get<double>(), 0);
    EXPECT_GT(row.at("chunks_per_second").get<double>(), 0);
  }
}

TEST(BenchCommand, WrongUsageIsTwo) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"bench"},
                                             {"bench", "embed", "--batch", "0"},
                                             {"bench", "embed", "--batch", "1,many"},
                                             {"bench", "embed", "--precision", "sloppy"},
                                             {"bench", "embed", "--seconds", "-1"},
                                             {"bench", "embed", "--family", "none"},
                                             {"bench", "embed", "--profile", "--fusion"},
                                             {"bench", "embed", "--format", "xml"},
                                             {"tune"},
                                             {"tune", "--out", "a", "--check", "b"}}) {
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments.back() << "\n" << result.err;
    EXPECT_TRUE(result.out.empty()) << result.out;
  }
}

TEST(BenchCommand, WhatTheCpuLacksIsAnErrorWithTheCure) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"bench", "embed", "--profile"},
           {"bench", "embed", "--algorithms"},
           {"bench", "embed", "--fusion"},
           {"tune", "--device", "cpu", "--out", "never-written.tune"},
           {"tune", "--device", "cpu", "--check", "none.tune"}}) {
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 1) << arguments.back();
    EXPECT_NE(result.err.find("--device cuda"), std::string::npos) << result.err;
    EXPECT_TRUE(result.out.empty()) << result.out;
  }
  EXPECT_EQ(run_program({"bench", "embed", "--family", "hopper"}).exit_code, 1);
}

}  // namespace
}  // namespace diarist::test
