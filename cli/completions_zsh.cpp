// zsh: one _arguments call per verb.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completions.hpp"

namespace diarist::cli {
namespace {

// Inside single quotes and the brackets of a specification.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result;
}

std::string action_of(const OptionPage& option) {
  if (!option.choices.empty()) {
    std::vector<std::string> choices;
    for (const std::string& choice : option.choices) choices.push_back(escaped(choice));
    return fmt::format("({})", fmt::join(choices, " "));
  }
  if (option.kind == ValueKind::kFile) return "_files";
  if (option.kind == ValueKind::kFolder) return "_files -/";
  return " ";
}

std::string function_of(const VerbPage& page) {
  std::string name = "_diarist";
  for (const std::string& word : page.path) name += "_" + word;
  return name;
}

std::string options_of(const VerbPage& page) {
  std::string text;
  for (const OptionPage& option : page.options) {
    for (const std::string& name : option.names) {
      const bool equals = !option.flag() && name.starts_with("--");
      text += fmt::format(
          " \\\n    '({}){}{}[{}]{}'", fmt::join(option.names, " "), name, equals ? "=" : "",
          escaped(option.text),
          option.flag() ? "" : fmt::format(":{}:{}", escaped(option.value), action_of(option)));
    }
  }
  return text;
}

std::string function_text(const VerbPage& page) {
  std::string text = fmt::format("{}() {{\n", function_of(page));
  if (page.verbs.empty()) {
    text += "  _arguments -s -S" + options_of(page);
    for (const OptionPage& argument : page.arguments)
      text += fmt::format(" \\\n    '{}:{}:{}'", argument.repeats ? "*" : "",
                          escaped(argument.value), action_of(argument));
    return text + "\n}\n\n";
  }
  text += "  local context state state_descr line\n  typeset -A opt_args\n  _arguments -C" +
          options_of(page) + " \\\n    '1:verb:->verb' \\\n    '*::argument:->arguments'\n";
  text += "  case $state in\n    verb)\n      local -a verbs\n      verbs=(\n";
  for (const VerbPage& verb : page.verbs)
    if (!verb.hidden)
      text += fmt::format("        '{}:{}'\n", verb.path.back(), escaped(verb.summary));
  text += "      )\n      _describe verb verbs\n      ;;\n    arguments)\n      case $line[1] in\n";
  for (const VerbPage& verb : page.verbs)
    if (!verb.hidden)
      text += fmt::format("        {}) {} ;;\n", verb.path.back(), function_of(verb));
  return text + "      esac\n      ;;\n  esac\n}\n\n";
}

}  // namespace

std::string zsh_completion(const VerbPage& root) {
  std::string text =
      "#compdef diarist\n# zsh completion of diarist; written by: diarist completions zsh\n\n";
  for (const VerbPage* page : all_pages(root)) text += function_text(*page);
  // Loaded from fpath the file is the body of _diarist; sourced, it is registered.
  return text +
         "if [[ $funcstack[1] == _diarist ]]; then\n  _diarist \"$@\"\nelse\n"
         "  compdef _diarist diarist\nfi\n";
}

}  // namespace diarist::cli
