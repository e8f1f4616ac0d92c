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

/// For option->transform(): turns a name into its value, and tells the names to whoever gives
/// another.
template <typename Value>
CLI::Validator one_of(std::vector<std::pair<std::string, Value>> names) {
  std::string list, known;
  for (const auto& [name, value] : names) {
    list += (list.empty() ? "" : ", ") + name;
    known += (known.empty() ? "{" : ",") + name;
  }
  return CLI::Validator(
      [names = std::move(names), list](std::string& text) -> std::string {
        for (const auto& [name, value] : names) {
          if (text != name) continue;
          text = std::to_string(static_cast<int>(value));
          return {};
        }
        return "'" + text + "' is not known; use one of: " + list;
      },
      known + "}");  // help texts and completions read the names there
}

/// Like CLI::NonNegativeNumber, whose complaint tells the largest double in 309 digits.
CLI::Validator zero_or_more();

}  // namespace diarist::cli
