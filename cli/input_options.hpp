#pragma once
// Options that say how recordings are read.

#include <CLI/CLI.hpp>

#include "diarist/audio.hpp"

namespace diarist::cli {

/// --raw, --track, --channel, --from, --to, --container-clock, and where sides can be diarized
/// apart
/// --split-channels.
void add_input_options(CLI::App& command, AudioOptions& options, bool with_sides);

/// "90", "1:30", "0:01:30.5" as seconds. \throws Error kInvalidArgument that tells what may stand
/// there.
double parse_time(const std::string& text);

}  // namespace diarist::cli
