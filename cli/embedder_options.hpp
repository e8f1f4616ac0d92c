#pragma once
// Options of the verbs that make or describe speaker embeddings.

#include <CLI/CLI.hpp>
#include <string>

#include "diarist/embedder.hpp"
#include "diarist/options.hpp"

namespace diarist::cli {

/// add_engine_options() with what only an Embedder has. Must outlive the parsing.
struct EmbedderArguments {
  DiarizerOptions engine;
  std::string weights, tune_file;
  bool kernel_only = false;
  const CLI::Option* precision = nullptr;  // not given: the device's own
};

/// Those of add_engine_options(), --weights, --tune-file, --kernel-only.
void add_embedder_options(CLI::App& command, EmbedderArguments& arguments);

/// What was given on the command line.
EmbedderOptions embedder_options(const EmbedderArguments& arguments);

}  // namespace diarist::cli
