// `diarist score --json` against pyannote.metrics on cases that nobody has seen before.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "support/program.hpp"

namespace diarist {
namespace {

TEST(ScoringLive, EqualsPyannoteMetrics) {
  const char* python = std::getenv("DIARIST_TEST_PYTHON");
  if (python == nullptr || *python == '\0') {
    GTEST_SKIP() << "DIARIST_TEST_PYTHON names no Python with tools/requirements-test.txt";
  }
  const std::string seed = std::to_string(std::random_device()() % 1000000);
  const test::ProgramResult result =
      test::run_command({python, DIARIST_SCORING_TOOL, "--against", test::program().string(),
                         "--seed", seed, "--count", "120"});
  EXPECT_EQ(result.exit_code, 0) << "seed " << seed << "\n" << result.out << result.err;
  EXPECT_NE(result.out.find(" 0 differ"), std::string::npos) << result.out << result.err;
}

}  // namespace
}  // namespace diarist
