#pragma once
// A child process without a shell.

#include <stop_token>
#include <string>
#include <vector>

namespace diarist::fetch {

struct ChildResult {
  int exit_code = 0;       // 128 + signal when killed
  bool started = false;    // false: the program wasn't found or can't be run
  std::string error_text;  // the end of what it wrote to stderr and stdout, at most 64 KiB
};

/// Runs a program found in PATH (or by path) to its end; input is empty, output is collected.
/// \throws Error kCancelled after ending the child when a stop was asked for, kInternal.
ChildResult run_child(const std::vector<std::string>& command, const std::stop_token& stop);

}  // namespace diarist::fetch
