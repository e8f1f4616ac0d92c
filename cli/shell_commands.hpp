#pragma once
// Verbs about the program itself: man, completions, config.

#include <CLI/CLI.hpp>

#include "commands.hpp"

namespace diarist::cli {

/// Add these last: they tell about all verbs that are there.
void add_shell_commands(CLI::App& app, Action& action);

}  // namespace diarist::cli
