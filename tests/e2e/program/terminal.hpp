#pragma once
// The program with a terminal on standard error, and signals sent to it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/support.hpp"

namespace diarist::test {

struct TerminalResult {
  int code = -1;  // -signal when it was killed
  std::string out, err;
  double seconds = 0;  // from the first signal, or the start, to the end
};

/// diarist ARGUMENTS... under terminal.py with its OPTIONS.
inline TerminalResult run_in_terminal(const std::vector<std::string>& options,
                                      const std::vector<std::string>& arguments,
                                      std::map<std::string, std::string> environment = {}) {
  const char* python = std::getenv("DIARIST_TEST_PYTHON");
  std::vector<std::string> command = {python != nullptr ? python : "python3", DIARIST_TERMINAL};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--", program().string()});
  command.insert(command.end(), arguments.begin(), arguments.end());
  environment.emplace("DIARIST_MODELS", models_folder().string());
  environment.emplace("DIARIST_CONFIG", "");
  environment.emplace("TERM", "xterm");
  environment.emplace("NO_COLOR", "");
  const ProgramResult result = run_command(command, environment);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  return {json.at("code"), json.at("out"), json.at("err"), json.at("seconds")};
}

}  // namespace diarist::test
