#pragma once
// Options that shape turns, for every verb that writes them.

#include <CLI/CLI.hpp>
#include <string>

#include "diarist/shaping.hpp"

namespace diarist::cli {

/// --exclusive, --min-duration-on, --min-duration-off, --merge-gap, --pad, --names.
void add_shaping_options(CLI::App& command, TurnShaping& shaping);

/// Takes names as `--names` has them: "Anna,Ben" in order, "SPEAKER_00=Anna,SPEAKER_01=Ben" by
/// name, or a file with one of either per line (also OLD, a tab, NEW; lines with '#' in front are
/// comments).
/// \throws CLI::ValidationError for anything else.
void set_names(const std::string& text, TurnShaping& shaping);

}  // namespace diarist::cli
