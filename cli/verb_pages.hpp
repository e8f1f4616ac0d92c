#pragma once
// The command line as data: read off the parser once, so that help texts, man pages, completions
// and the configuration can't tell anything else than what the program accepts.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "option_facts.hpp"

namespace diarist::cli {

struct OptionPage {
  std::vector<std::string> names;  ///< as typed: "-q", "--quiet"; of an argument its name
  std::string key;                 ///< long name without dashes; empty for an argument
  std::string value;               ///< "FILE"; empty for a flag
  ValueKind kind = ValueKind::kText;
  std::vector<std::string> choices;  ///< what may stand there, or what to offer
  std::string text;
  std::string default_text;
  std::string group;
  bool required = false;
  bool repeats = false;       ///< takes several values
  bool configurable = false;  ///< may come from the environment or a configuration file
  /// Means something else than the option of that name elsewhere: only the verb's own section of a
  /// configuration file gives it.
  bool own = false;
  CLI::Option* option = nullptr;

  bool flag() const { return value.empty(); }
};

struct VerbPage {
  std::vector<std::string> path;  ///< {"models", "pull"}; empty for the program itself
  std::string summary;
  std::string notes;     ///< paragraphs between blank lines
  std::string examples;  ///< lines as they are
  std::vector<OptionPage> arguments, options;
  std::vector<VerbPage> verbs;
  bool hidden = false;
  CLI::App* app = nullptr;

  /// "diarist models pull"
  std::string command() const;
  /// "models pull"
  std::string words() const;
  /// What follows "diarist models pull" in a usage line.
  std::string usage() const;
};

/// Reads a parser and its verbs. The options of nameless groups belong to their verb.
VerbPage read_pages(CLI::App& app);

/// The pages below and including this one, hidden verbs left out.
std::vector<const VerbPage*> all_pages(const VerbPage& root);

/// Options by group, in the order of option_groups().
std::vector<std::pair<std::string, std::vector<const OptionPage*>>> by_group(const VerbPage& page);

}  // namespace diarist::cli
