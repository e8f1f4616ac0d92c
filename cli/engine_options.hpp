#pragma once
// Options that several verbs share.

#include <CLI/CLI.hpp>
#include <string>

#include "diarist/options.hpp"

namespace diarist::cli {

/// --preset, --models, --allow-unknown-weights, and for verbs that run networks --device,
/// --precision, --threads, --cpu-target.
void add_engine_options(CLI::App& command, DiarizerOptions& options, bool runs_networks);

/// --num-speakers, --min-speakers, --max-speakers, --reference.
void add_speaker_options(CLI::App& command, RunOptions& options);

}  // namespace diarist::cli
