// `diarist label` against a second implementation of its rule, on cases nobody has seen before.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "support/program.hpp"

namespace diarist {
namespace {

TEST(TranscriptsLive, LabelsAsCountedOnAGridOfMilliseconds) {
  const char* python = std::getenv("DIARIST_TEST_PYTHON");
  if (python == nullptr || *python == '\0') {
    GTEST_SKIP() << "DIARIST_TEST_PYTHON names no Python";
  }
  const std::string seed = std::to_string(std::random_device()() % 1000000);
  const test::ProgramResult result = test::run_command(
      {python, DIARIST_LABEL_TOOL, test::program().string(), "--seed", seed, "--count", "50"});
  EXPECT_EQ(result.exit_code, 0) << "seed " << seed << "\n" << result.out << result.err;
  EXPECT_NE(result.out.find(" 0 differ"), std::string::npos) << result.out << result.err;
}

}  // namespace
}  // namespace diarist
