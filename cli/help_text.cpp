#include "help_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "terminal.hpp"

namespace diarist::cli {
namespace {

constexpr int kTextColumn = 26;
constexpr int kWidest = 100;

class HelpWriter {
 public:
  HelpWriter(int columns, bool bold) : columns_(std::clamp(columns, 50, kWidest)), bold_(bold) {}

  void heading(const std::string& text) {
    text_ += bold_ ? fmt::format("\n\033[1m{}:\033[0m\n", text) : fmt::format("\n{}:\n", text);
  }

  void row(const std::string& left, const std::string& right) {
    const bool fits = width_of(left) + 4 <= kTextColumn;
    text_ += fits ? fmt::format("  {}{}", left, blanks(kTextColumn - 2 - width_of(left)))
                  : fmt::format("  {}\n{}", left, blanks(kTextColumn));
    text_ += wrapped(right, columns_, kTextColumn) + "\n";
  }

  // Paragraphs are filled anew; lines that start with blanks are left as they are.
  void notes(const std::string& notes) {
    std::string paragraph;
    const auto flush = [&] {
      if (!paragraph.empty()) text_ += "\n" + wrapped(paragraph, columns_, 0) + "\n";
      paragraph.clear();
    };
    std::string line;
    for (const char c : notes + "\n") {
      if (c != '\n') {
        line += c;
        continue;
      }
      if (line.empty()) flush();
      if (line.starts_with("  ")) {
        flush();
        text_ += line + "\n";
      } else {
        paragraph += line + "\n";
        if (line.empty()) paragraph.clear();
      }
      line.clear();
    }
    flush();
  }

  void examples(const std::string& examples) {
    if (examples.empty()) return;
    heading(std::count(examples.begin(), examples.end(), '\n') > 1 ? "Examples" : "Example");
    std::string line;
    for (const char c : examples) {
      if (line.empty()) text_ += "  ";
      text_ += c;
      line = c == '\n' ? "" : "x";
    }
  }

  void plain(const std::string& text) { text_ += text; }
  std::string take() { return std::move(text_); }

 private:
  static std::string blanks(int count) {
    return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
  }

  int columns_;
  bool bold_;
  std::string text_;
};

std::string option_text(const OptionPage& option) {
  std::string text = option.text;
  // A list in the text says it better than a list of words behind it.
  const bool told = std::all_of(
      option.choices.begin(), option.choices.end(),
      [&](const std::string& choice) { return text.find(choice) != std::string::npos; });
  if (!told && !option.flag()) text += fmt::format(" [{}]", fmt::join(option.choices, ", "));
  if (!option.default_text.empty() && text.find("default") == std::string::npos)
    text += fmt::format(" (default: {})", option.default_text);
  if (option.required && !option.key.empty()) text += " (required)";
  return text;
}

std::string option_names(const OptionPage& option) {
  std::string names = fmt::format("{}", fmt::join(option.names, ", "));
  // Long names stand below each other, whether there is a short one or not.
  if (option.names.front().starts_with("--")) names.insert(0, "    ");
  if (!option.flag()) names += " " + option.value;
  return names;
}

/// Renders from the pages: CLI11 asks it for the text of --help.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    const CLI::App* root = app;
    while (root->get_parent() != nullptr) root = root->get_parent();
    const VerbPage pages = read_pages(*const_cast<CLI::App*>(root));
    for (const VerbPage* page : all_with_hidden(pages))
      if (page->app == app)
        return help_text(*page, columns_of(STDOUT_FILENO), has_colours(STDOUT_FILENO));
    return {};
  }

 private:
  static std::vector<const VerbPage*> all_with_hidden(const VerbPage& page) {
    std::vector<const VerbPage*> pages = {&page};
    for (const VerbPage& verb : page.verbs)
      for (const VerbPage* below : all_with_hidden(verb)) pages.push_back(below);
    return pages;
  }
};

void use_in_all(CLI::App& app, const std::shared_ptr<HelpFormatter>& formatter) {
  app.formatter(formatter);
  for (CLI::App* verb : app.get_subcommands({})) use_in_all(*verb, formatter);
}

}  // namespace

std::string help_text(const VerbPage& page, int columns, bool bold) {
  HelpWriter writer(columns, bold);
  writer.plain(page.path.empty() ? page.summary + "\n"
                                 : fmt::format("{}: {}\n", page.command(), page.summary));
  writer.plain(fmt::format("\nUsage: {}{}\n", page.command(), page.usage()));
  if (!page.arguments.empty()) writer.plain("\n");
  for (const OptionPage& argument : page.arguments)
    writer.row(argument.value + (argument.repeats ? "..." : ""), option_text(argument));
  if (page.path.empty()) writer.examples(page.examples);
  if (!page.verbs.empty()) writer.heading("Verbs");
  for (const VerbPage& verb : page.verbs)
    if (!verb.hidden) writer.row(verb.path.back(), verb.summary);
  for (const auto& [group, options] : by_group(page)) {
    writer.heading(group);
    for (const OptionPage* option : options)
      writer.row(option_names(*option), option_text(*option));
  }
  writer.notes(page.notes);
  if (!page.path.empty()) writer.examples(page.examples);
  return writer.take();
}

void use_help_text(CLI::App& app) { use_in_all(app, std::make_shared<HelpFormatter>()); }

}  // namespace diarist::cli
