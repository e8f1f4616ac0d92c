#include "verb_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace diarist::cli {
namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// "TEXT:{open,community-1}": what stands between the braces.
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos || close < open) return choices;
  std::string word;
  for (std::size_t i = open + 1; i <= close; ++i) {
    if (type[i] == ',' || type[i] == '}') {
      if (!word.empty()) choices.push_back(word);
      word.clear();
    } else if (type[i] != ' ') {
      word += type[i];
    }
  }
  return choices;
}

bool is_number(const std::string& type) {
  return type == "INT" || type == "UINT" || type == "FLOAT";
}

// What the verb itself calls the value; empty where the parser made up the word.
std::string own_value_name(const std::string& type) {
  if (is_number(type) || type == "TEXT" || type == "ENUM" || type == "BOOLEAN" ||
      type.starts_with("{") || type.starts_with("["))
    return {};
  return type;
}

std::string value_name(const OptionPage& page, const std::string& type, const OptionFacts* facts) {
  if (std::string own = own_value_name(type); !own.empty()) return own;
  if (facts != nullptr && facts->value[0] != '\0') return facts->value;
  if (page.key.empty()) return upper(page.names.front());
  if (is_number(type)) return "N";
  if (facts != nullptr && facts->kind == ValueKind::kFile)
    return page.text.starts_with("folder") ? "DIR" : "FILE";
  return "TEXT";
}

OptionPage read_option(CLI::Option& option) {
  OptionPage page;
  page.option = &option;
  for (const std::string& name : option.get_snames()) page.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) page.names.push_back("--" + name);
  if (!option.get_lnames().empty()) page.key = option.get_lnames().front();
  if (page.names.empty()) page.names.push_back(option.get_single_name());
  page.text = option.get_description();
  page.required = option.get_required();
  page.repeats = option.get_items_expected_max() > 1;
  page.group = option.get_group();
  const OptionFacts* facts = facts_of(page.key);
  if (facts != nullptr && page.group == "Options") page.group = facts->group;
  page.configurable = !page.key.empty() && option.get_configurable() && page.key != "help" &&
                      page.key != "version" && page.key != "config";
  if (option.get_items_expected_max() == 0) return page;

  const std::string full = option.get_type_name();
  const std::string type = full.substr(0, full.find(':'));
  page.value = value_name(page, type, facts);
  page.choices = choices_in(full);
  // Score and transcripts have formats of their own.
  if (page.choices.empty() && (page.key != "format" || type == kFormatList))
    page.choices = offered_values(page.key);
  page.default_text = option.get_default_str();
  page.kind = facts != nullptr   ? facts->kind
              : page.key.empty() ? ValueKind::kFile
              : is_number(type)  ? ValueKind::kNumber
                                 : ValueKind::kText;
  if (page.value == "DIR") page.kind = ValueKind::kFolder;
  return page;
}

void read_options(CLI::App& app, VerbPage& page) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    // Groups of options have the flag again.
    if (app.get_name().empty() && app.get_parent() != nullptr && option == app.get_help_ptr())
      continue;
    OptionPage read = read_option(*option);
    (read.key.empty() && option->get_positional() ? page.arguments : page.options)
        .push_back(std::move(read));
  }
  for (CLI::App* group : app.get_subcommands([](CLI::App* sub) { return sub->get_name().empty(); }))
    read_options(*group, page);
}

// The text up to a line "Example: ..." or "Examples:", and from there on.
void read_footer(const std::string& footer, VerbPage& page) {
  std::size_t start = footer.find("Example");
  while (start != std::string::npos && start > 0 && footer[start - 1] != '\n')
    start = footer.find("Example", start + 1);
  page.notes = footer.substr(0, start);
  while (!page.notes.empty() && page.notes.back() == '\n') page.notes.pop_back();
  if (start == std::string::npos) return;
  std::size_t text = footer.find(':', start);
  text = text == std::string::npos ? start : text + 1;
  if (text < footer.size() && footer[text] == '\n') ++text;
  std::string line;
  for (const char c : footer.substr(text) + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (!line.empty()) page.examples += line + "\n";
    line.clear();
  }
}

VerbPage read_verb(CLI::App& app, std::vector<std::string> path) {
  VerbPage page;
  page.app = &app;
  page.path = std::move(path);
  page.summary = app.get_description();
  page.hidden = app.get_group().empty();
  read_options(app, page);
  for (OptionPage& option : page.options)
    option.own = means_something_else(page.words(), option.key);
  read_footer(app.get_footer(), page);
  if (page.examples.empty()) {
    VerbPage more;
    read_footer(example_of(page.words()), more);
    page.examples = more.examples;
  }
  for (CLI::App* verb :
       app.get_subcommands([](CLI::App* sub) { return !sub->get_name().empty(); })) {
    std::vector<std::string> below = page.path;
    below.push_back(verb->get_name());
    page.verbs.push_back(read_verb(*verb, std::move(below)));
  }
  return page;
}

void collect(const VerbPage& page, std::vector<const VerbPage*>& pages) {
  if (page.hidden) return;
  pages.push_back(&page);
  for (const VerbPage& verb : page.verbs) collect(verb, pages);
}

}  // namespace

std::string VerbPage::words() const { return fmt::format("{}", fmt::join(path, " ")); }

std::string VerbPage::command() const { return path.empty() ? "diarist" : "diarist " + words(); }

std::string VerbPage::usage() const {
  std::string text = verbs.empty() ? "" : " VERB";
  for (const OptionPage& argument : arguments) {
    std::string name = argument.value + (argument.repeats ? "..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  for (const OptionPage& option : options)
    if (option.required) text += fmt::format(" {} {}", option.names.back(), option.value);
  return text + " [OPTIONS]";
}

VerbPage read_pages(CLI::App& app) {
  VerbPage page = read_verb(app, {});
  page.hidden = false;
  return page;
}

std::vector<const VerbPage*> all_pages(const VerbPage& root) {
  std::vector<const VerbPage*> pages;
  collect(root, pages);
  return pages;
}

std::vector<std::pair<std::string, std::vector<const OptionPage*>>> by_group(const VerbPage& page) {
  std::vector<std::string> order = option_groups();
  for (const OptionPage& option : page.options)
    if (std::find(order.begin(), order.end(), option.group) == order.end())
      order.insert(order.end() - 1, option.group);
  std::vector<std::pair<std::string, std::vector<const OptionPage*>>> groups;
  for (const std::string& name : order) {
    std::vector<const OptionPage*> members;
    for (const OptionPage& option : page.options)
      if (option.group == name) members.push_back(&option);
    if (!members.empty()) groups.emplace_back(name, std::move(members));
  }
  return groups;
}

}  // namespace diarist::cli
