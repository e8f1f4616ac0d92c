#include "man_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "diarist/info.hpp"
#include "settings.hpp"
#include "terminal.hpp"

namespace diarist::cli {
namespace {

// The day of the last change to what all pages say. A page must not change from build to build.
constexpr const char* kDate = "2025-11-30";

// A line of roff that shows this text.
std::string roff(const std::string& text) {
  std::string result;
  bool start = true;
  for (const char c : text) {
    if (start && (c == '.' || c == '\'')) result += "\\&";
    start = c == '\n';
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

// Running text: short lines, as checkers of pages want them.
std::string filled(const std::string& text) {
  constexpr int kColumns = 64;  // escapes make them longer
  return roff(wrapped(text, kColumns, 0));
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string dashed(const VerbPage& page) {
  std::string name = "diarist";
  for (const std::string& word : page.path) name += "-" + word;
  return name;
}

// Paragraphs are filled, lines that start with blanks stand as they are.
std::string paragraphs(const std::string& notes) {
  std::string text;
  bool open = false, literal = false;
  std::string line;
  for (const char c : notes + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    const bool indented = line.starts_with("  ");
    if (literal && !indented) text += ".fi\n.RE\n";
    if (indented && !literal) text += ".PP\n.RS 4\n.nf\n";
    if (!indented && literal) open = false;
    literal = indented;
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) {
      open = false;
    } else {
      if (!literal && !open) text += ".PP\n";
      open = open || !literal;
      text += (literal ? roff(line) : filled(line)) + "\n";
    }
    line.clear();
  }
  return literal ? text + ".fi\n.RE\n" : text;
}

std::string option_entry(const OptionPage& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
  if (!option.flag()) names += " " + italic(option.value);
  std::string text = option.text;
  if (option.required) text += " (required)";
  if (!option.default_text.empty() && text.find("default") == std::string::npos)
    text += fmt::format(" (default: {})", option.default_text);
  std::string entry = ".TP\n" + names + "\n" + filled(text) + "\n";
  const bool told = std::all_of(
      option.choices.begin(), option.choices.end(),
      [&](const std::string& choice) { return text.find(choice) != std::string::npos; });
  if (!told)
    entry += ".br\nValues: " + roff(fmt::format("{}", fmt::join(option.choices, ", "))) + "\n";
  return entry;
}

std::string synopsis(const VerbPage& page) {
  std::string text = ".SH SYNOPSIS\n" + bold(page.command());
  if (!page.verbs.empty()) text += " " + italic("VERB");
  for (const OptionPage& argument : page.arguments) {
    const std::string name = italic(argument.value) + (argument.repeats ? "..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  for (const OptionPage& option : page.options)
    if (option.required) text += " " + bold(option.names.back()) + " " + italic(option.value);
  return text + " [" + italic("OPTIONS") + "]\n";
}

std::string environment(const VerbPage& page) {
  std::vector<std::string> names;
  for (const OptionPage& option : page.options)
    if (option.configurable) names.push_back(bold(variable_of(option.key)));
  if (names.empty()) return {};
  return fmt::format(
      ".SH ENVIRONMENT\nAn option that is not given is taken from the environment,\n"
      "then from the configuration file (see\n.BR diarist (1)):\n{}.\n",
      fmt::join(names, ",\n"));
}

std::string files() {
  return ".SH FILES\n.TP\n" + italic("$XDG_CONFIG_HOME/diarist/config.toml") +
         "\nValues of options in TOML: at the top or under\n" + bold("[all]") +
         "\nfor all verbs, under\n" + bold("[run]") +
         " for one. The order is: command line,\nenvironment (" + bold("DIARIST_DEVICE") +
         " for\n" + bold("--device") + " and so on), configuration file,\nbuilt in.\n" +
         bold("diarist config") + " shows what holds and where it comes from.\n.TP\n" +
         italic("$XDG_CACHE_HOME/diarist") + "\nModels, unless " + bold("DIARIST_MODELS") + " or " +
         bold("--models") + " say otherwise.\n";
}

std::string exit_status() {
  std::string text = ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : std::initializer_list<std::pair<const char*, const char*>>{
           {"0", "all went well; a recording without speech is a normal result"},
           {"1", "an input, an output or the device failed; other inputs have their results"},
           {"2", "wrong usage, also in the environment or the configuration file"},
           {"3", "a model is missing, damaged, or not the one it claims to be"},
           {"4", "differences were found (diff --exit-code)"},
           {"130", "interrupted by Ctrl-C (143: by SIGTERM)"}})
    text += fmt::format(".TP\n{}\n{}\n", bold(code), roff(meaning));
  return text;
}

std::string references(const VerbPage& page, const VerbPage& root) {
  std::vector<std::string> names;
  for (const VerbPage* other : all_pages(root)) {
    if (other == &page) continue;
    const bool near = page.path.empty()
                          ? other->path.size() == 1
                          : other->path.empty() ||
                                (other->path.front() == page.path.front() && page.path.size() < 3);
    if (near) names.push_back(fmt::format(".BR {} (1)", roff(dashed(*other))));
  }
  if (names.empty()) return {};
  return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(names, ",\n"));
}

}  // namespace

std::string man_file_name(const VerbPage& page) { return dashed(page) + ".1"; }

std::string man_page(const VerbPage& page, const VerbPage& root) {
  std::string title = dashed(page);
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string summary = page.summary;
  if (summary.starts_with("diarist: ")) summary.erase(0, 9);
  std::string text =
      fmt::format(".TH {} 1 {} \"diarist {}\" \"User Commands\"\n", roff(title), kDate, version());
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(dashed(page)), roff(summary));
  text += synopsis(page);
  // A section that starts with .PP makes checkers complain.
  std::string notes = paragraphs(page.notes);
  if (notes.starts_with(".PP\n")) notes.erase(0, 4);
  if (!notes.empty()) text += ".SH DESCRIPTION\n" + notes;
  if (!page.verbs.empty()) text += ".SH VERBS\n";
  for (const VerbPage& verb : page.verbs)
    if (!verb.hidden) text += ".TP\n" + bold(verb.path.back()) + "\n" + filled(verb.summary) + "\n";
  if (!page.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const OptionPage& argument : page.arguments)
    text += ".TP\n" + italic(argument.value) + (argument.repeats ? "..." : "") + "\n" +
            filled(argument.text) + "\n";
  if (!page.options.empty()) text += ".SH OPTIONS\n";
  for (const auto& [group, options] : by_group(page)) {
    text += ".SS " + roff(group) + "\n";
    for (const OptionPage* option : options) text += option_entry(*option);
  }
  text += page.path.empty() ? files() : environment(page);
  text += exit_status();
  if (!page.examples.empty()) text += ".SH EXAMPLES\n.nf\n" + roff(page.examples) + ".fi\n";
  return text + references(page, root);
}

}  // namespace diarist::cli
