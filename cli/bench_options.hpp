#pragma once
// Options that bench and tune share.

#include <CLI/CLI.hpp>

#include "diarist/tuning.hpp"

namespace diarist::cli {

/// --device, --threads, --cpu-target, --weights, --allow-unknown-weights, --batch, --precision,
/// --seconds.
void add_bench_options(CLI::App& command, BenchOptions& options);

}  // namespace diarist::cli
