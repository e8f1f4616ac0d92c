// Needs bash 4 and nothing else: bash-completion may be missing.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completions.hpp"

namespace diarist::cli {
namespace {

constexpr const char* kStart =
    R"bash(# bash completion of diarist; written by: diarist completions bash

_diarist_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_diarist_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

_diarist_folders() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$cur")
}

_diarist() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb= i
  # Readline splits --option=value at the sign.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$verb/${COMP_WORDS[i]}" in
)bash";

std::string path_of(const VerbPage& page) { return fmt::format("{}", fmt::join(page.path, "/")); }

std::string after_option(const OptionPage& option) {
  if (!option.choices.empty())
    return fmt::format("_diarist_words '{}'", fmt::join(option.choices, " "));
  if (option.kind == ValueKind::kFile) return "_diarist_files";
  if (option.kind == ValueKind::kFolder) return "_diarist_folders";
  return "COMPREPLY=()";
}

std::string case_of(const VerbPage& page) {
  std::vector<std::string> words;
  for (const VerbPage& verb : page.verbs)
    if (!verb.hidden) words.push_back(verb.path.back());
  std::string options, arguments = "      COMPREPLY=()\n";
  std::vector<std::string> names;
  for (const OptionPage& option : page.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
    if (!option.flag())
      options += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, " | "),
                             after_option(option));
  }
  if (!words.empty())
    arguments = fmt::format("      _diarist_words '{}'\n", fmt::join(words, " "));
  else if (!page.arguments.empty())
    arguments = fmt::format("      {}\n", after_option(page.arguments.front()));
  std::string text = fmt::format("    '{}')\n", path_of(page));
  if (!options.empty()) text += "      case \"$prev\" in\n" + options + "      esac\n";
  text += fmt::format(
      "      if [[ $cur == -* ]]; then\n        _diarist_words '{}'\n        return\n      fi\n",
      fmt::join(names, " "));
  return text + arguments + "      ;;\n";
}

}  // namespace

std::string bash_completion(const VerbPage& root) {
  std::string text = kStart;
  for (const VerbPage* page : all_pages(root)) {
    if (page->path.empty()) continue;
    const std::string path = path_of(*page);
    const std::size_t slash = path.rfind('/');
    text += fmt::format("      '{}') verb='{}' ;;\n",
                        slash == std::string::npos ? "/" + path : path, path);
  }
  text += "    esac\n  done\n  case \"$verb\" in\n";
  for (const VerbPage* page : all_pages(root)) text += case_of(*page);
  return text + "  esac\n}\n\ncomplete -F _diarist diarist\n";
}

}  // namespace diarist::cli
