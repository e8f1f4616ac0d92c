#pragma once
// One line about a command line that can't be understood.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace diarist::cli {

/// What is wrong, with a near miss where there is one and with where the value came from.
std::string usage_error(CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& words);

}  // namespace diarist::cli
