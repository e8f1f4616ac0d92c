#pragma once
// Options that bench and tune share.

#include <CLI/CLI.hpp>

#include "diarist/run_control.hpp"
#include "diarist/tuning.hpp"

namespace diarist::cli {

/// --device, --threads, --cpu-target, --weights, --allow-unknown-weights, --batch, --precision,
/// --seconds.
void add_bench_options(CLI::App& command, BenchOptions& options);

/// Messages of long work go to stderr, so that stdout carries the figures only.
RunControl bench_control(std::stop_token stop);

}  // namespace diarist::cli
