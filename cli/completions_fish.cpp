// fish: one line per option, under a condition that tells the verb.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completions.hpp"

namespace diarist::cli {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string condition(const VerbPage& page) {
  return fmt::format("complete -c diarist -n '__diarist_at \"{}\"'", page.words());
}

std::string value_of(const OptionPage& option) {
  if (!option.choices.empty())
    return " -x -a " + quoted(fmt::format("{}", fmt::join(option.choices, " ")));
  if (option.kind == ValueKind::kFile) return " -r -F";
  if (option.kind == ValueKind::kFolder) return " -x -a '(__fish_complete_directories)'";
  return " -x";
}

std::string lines_of(const VerbPage& page) {
  std::string text;
  for (const VerbPage& verb : page.verbs)
    if (!verb.hidden)
      text +=
          fmt::format("{} -a {} -d {}\n", condition(page), verb.path.back(), quoted(verb.summary));
  for (const OptionPage& option : page.options) {
    text += condition(page);
    for (const std::string& name : option.names)
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.flag()) text += value_of(option);
    text += " -d " + quoted(option.text) + "\n";
  }
  for (const OptionPage& argument : page.arguments) {
    if (!argument.choices.empty())
      text += condition(page) + " -a " +
              quoted(fmt::format("{}", fmt::join(argument.choices, " "))) + "\n";
    else if (argument.kind == ValueKind::kFile)
      text += condition(page) + " -F\n";
  }
  return text;
}

}  // namespace

std::string fish_completion(const VerbPage& root) {
  std::string text =
      "# fish completion of diarist; written by: diarist completions fish\n\n"
      "function __diarist_at\n"
      "    set -l verb\n"
      "    for word in (commandline -opc)[2..-1]\n"
      "        switch \"$verb $word\"\n";
  for (const VerbPage* page : all_pages(root)) {
    if (page->path.empty()) continue;
    text += fmt::format("            case '{}{}'\n                set verb {}\n",
                        page->path.size() == 1 ? " " : "", page->words(), quoted(page->words()));
  }
  text +=
      "        end\n    end\n    test \"$verb\" = \"$argv[1]\"\nend\n\ncomplete -c diarist -f\n";
  for (const VerbPage* page : all_pages(root)) text += lines_of(*page);
  return text;
}

}  // namespace diarist::cli
