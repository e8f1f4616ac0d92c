#pragma once
// The verbs of the program. Each function adds its subcommand; when the user picked it, CLI11's
// callback puts the work into `action`, and main() runs that and turns errors into exit codes.

#include <CLI/CLI.hpp>
#include <functional>

namespace diarist::cli {

/// Exit codes: part of the interface (docs/cli.md). 130 and 143: interrupted_exit_code().
inline constexpr int kOk = 0;
inline constexpr int kSomeFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kModels = 3;
inline constexpr int kDiffers = 4;

/// Returns an exit code; may throw diarist::Error.
using Action = std::function<int()>;

void add_run(CLI::App& app, Action& action);
void add_cluster(CLI::App& app, Action& action);
void add_embed(CLI::App& app, Action& action);
void add_models(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_score(CLI::App& app, Action& action);
void add_diff(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_label(CLI::App& app, Action& action);
void add_voices(CLI::App& app, Action& action);

}  // namespace diarist::cli
