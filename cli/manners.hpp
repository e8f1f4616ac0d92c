#pragma once
// How the program talks: options that verbs share, kept for the whole process.

#include <CLI/CLI.hpp>
#include <string>

namespace diarist::cli {

struct Manners {
  bool quiet = false;          ///< no progress, no warnings; errors stay
  bool json_progress = false;  ///< standard error carries one JSON object per line
  bool dry_run = false;        ///< check and tell, but neither run nor write
  std::string config;          ///< --config FILE
};

/// Those of this call. Written while the command line is read, by one thread.
Manners& manners();

/// Gives every verb --config and --quiet, and --json-progress and --dry-run to those that know
/// them.
void add_manners(CLI::App& app);

}  // namespace diarist::cli
