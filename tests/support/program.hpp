#pragma once
// Runs the built program as a user would.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace diarist::test {

struct ProgramResult {
  int exit_code = -1;  // -signal when it was killed
  std::string out;
  std::string err;
};

/// Runs a command without a shell; `environment` is added to this one's.
/// \throws std::runtime_error when it can't be started.
ProgramResult run_command(const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& environment = {});

/// Path of the built `diarist`.
std::filesystem::path program();

/// diarist ARGUMENTS... with DIARIST_MODELS set to models_folder() and no configuration file.
ProgramResult run_program(std::vector<std::string> arguments,
                          const std::map<std::string, std::string>& environment = {});

}  // namespace diarist::test
