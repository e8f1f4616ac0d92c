// The program against pyannote.metrics and scipy, and against md-eval's rules, on cases that nobody
// has seen before.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "support/program.hpp"

namespace diarist {
namespace {

// Runs a tool with a fresh seed; the seed stands in the message of a failure.
test::ProgramResult run_tool(std::vector<std::string> arguments) {
  const std::string seed = std::to_string(std::random_device()() % 1000000);
  arguments.insert(arguments.begin(), std::getenv("DIARIST_TEST_PYTHON"));
  arguments.insert(arguments.end(), {"--seed", seed});
  test::ProgramResult result = test::run_command(arguments);
  EXPECT_EQ(result.exit_code, 0) << "seed " << seed << "\n" << result.out << result.err;
  return result;
}

class ScoringLive : public testing::Test {
 protected:
  void SetUp() override {
    const char* python = std::getenv("DIARIST_TEST_PYTHON");
    if (python == nullptr || *python == '\0') {
      GTEST_SKIP() << "DIARIST_TEST_PYTHON names no Python with tools/requirements-test.txt";
    }
  }
};

TEST_F(ScoringLive, EqualsPyannoteMetrics) {
  const test::ProgramResult result =
      run_tool({DIARIST_SCORING_TOOL, "--against", test::program().string(), "--count", "80"});
  EXPECT_NE(result.out.find(" 0 differ"), std::string::npos) << result.out << result.err;
}

TEST_F(ScoringLive, FollowsTheRulesOfMdEval) {
  run_tool({DIARIST_CHECK_TOOL, "--program", test::program().string(), "--count", "40", "md-eval"});
}

TEST_F(ScoringLive, IntervalsAreThoseOfScipy) {
  run_tool(
      {DIARIST_CHECK_TOOL, "--program", test::program().string(), "--count", "8", "bootstrap"});
}

TEST_F(ScoringLive, ComparisonIsWhatEveryPermutationSays) {
  run_tool({DIARIST_CHECK_TOOL, "--program", test::program().string(), "--count", "15", "compare"});
}

TEST_F(ScoringLive, DiffCountsEveryHundredthOfASecond) {
  run_tool({DIARIST_CHECK_TOOL, "--program", test::program().string(), "--count", "40", "diff"});
}

}  // namespace
}  // namespace diarist
