#pragma once
// --help: short for the program, in groups with examples for a verb.

#include <CLI/CLI.hpp>
#include <string>

#include "verb_pages.hpp"

namespace diarist::cli {

/// \param columns where lines are wrapped; `bold` marks headings for a terminal.
std::string help_text(const VerbPage& page, int columns, bool bold);

/// Makes the parser and all its verbs answer --help with help_text().
void use_help_text(CLI::App& app);

}  // namespace diarist::cli
