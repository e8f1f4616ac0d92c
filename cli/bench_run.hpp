#pragma once
// diarist bench run: whole recordings, from the file to the turns.

#include "commands.hpp"

namespace diarist::cli {

void add_run_bench(CLI::App& benches, Action& action);

}  // namespace diarist::cli
