#include "shell_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "completions.hpp"
#include "diarist/error.hpp"
#include "man_pages.hpp"
#include "manners.hpp"
#include "output_files.hpp"
#include "settings.hpp"
#include "suggestions.hpp"
#include "verb_pages.hpp"

namespace diarist::cli {
namespace {

[[noreturn]] void refuse_verb(const VerbPage& root, const std::string& words) {
  std::vector<std::string> known;
  for (const VerbPage* page : all_pages(root)) known.push_back(page->words());
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("there is no verb '{}'{}", words, did_you_mean(words, known)));
}

// The page of "models pull", given as two words.
const VerbPage& find_page(const VerbPage& root, const std::vector<std::string>& path) {
  const std::string words = fmt::format("{}", fmt::join(path, " "));
  for (const VerbPage* page : all_pages(root))
    if (page->words() == words) return *page;
  refuse_verb(root, words);
}

// ---- man -------------------------------------------------------------------------------------

struct ManArguments {
  std::vector<std::string> verb;
  std::string out;
};

int man(CLI::App& app, const ManArguments& arguments) {
  const VerbPage root = read_pages(app);
  if (arguments.out.empty()) {
    print(man_page(find_page(root, arguments.verb), root));
    return kOk;
  }
  const std::filesystem::path folder = arguments.out;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: can't make this folder: {}", folder.string(), error.message()));
  for (const VerbPage* page : all_pages(root))
    write_file(folder / man_file_name(*page), man_page(*page, root));
  return kOk;
}

void add_man(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<ManArguments>();
  CLI::App* command = app.add_subcommand("man", "print the manual page of a verb");
  command->add_option("VERB", arguments->verb, "words of the verb (default: the program)");
  command->add_option("--out", arguments->out, "folder for the pages of all verbs")
      ->type_name("DIR")
      ->configurable(false)
      ->excludes("VERB");
  command->footer("Examples:\n  diarist man run | man -l -\n  diarist man --out share/man/man1");
  command->callback(
      [&app, arguments, &action] { action = [&app, arguments] { return man(app, *arguments); }; });
}

// ---- completions -----------------------------------------------------------------------------

void add_completions(CLI::App& app, Action& action) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completions", "print completions for bash, zsh or fish");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  source <(diarist completions bash)\n"
      "  diarist completions zsh > ~/.zfunc/_diarist\n"
      "  diarist completions fish > ~/.config/fish/completions/diarist.fish");
  command->callback([&app, shell, &action] {
    action = [&app, shell] {
      const VerbPage root = read_pages(app);
      print(*shell == "bash"  ? bash_completion(root)
            : *shell == "zsh" ? zsh_completion(root)
                              : fish_completion(root));
      return static_cast<int>(kOk);
    };
  });
}

// ---- config ----------------------------------------------------------------------------------

// As TOML wants it: numbers, true and false bare, text in quotes.
std::string toml_value(const OptionPage& option, const std::string& value) {
  if (option.flag()) return value;
  const bool number = option.kind == ValueKind::kNumber && !value.empty() &&
                      value.find_first_not_of("0123456789.") == std::string::npos;
  if (number) return value;
  std::string quoted = "\"";
  for (const char c : one_line(value)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string setting_line(const Settings& settings, const VerbPage& page, const OptionPage& option) {
  const std::optional<Setting> setting = settings.of(page, option);
  std::string value = option.flag() ? "false" : option.default_text;
  std::string origin = "built in";
  if (setting) {
    origin = setting->origin;
    if (setting->values.size() == 1) {
      value = setting->values.front();
    } else {
      std::vector<std::string> list;
      for (const std::string& one : setting->values) list.push_back(toml_value(option, one));
      return fmt::format("{:<40} # {}\n",
                         fmt::format("{} = [{}]", option.key, fmt::join(list, ", ")), origin);
    }
  } else if (value.empty()) {
    return fmt::format("# {:<38} # not set; {}\n", option.key + " =", variable_of(option.key));
  }
  return fmt::format("{:<40} # {}\n", fmt::format("{} = {}", option.key, toml_value(option, value)),
                     origin);
}

int config(CLI::App& app, const std::vector<std::string>& verb) {
  const VerbPage root = read_pages(app);
  const Settings settings(root, manners().config);
  std::string text =
      settings.file().empty()
          ? fmt::format("# no configuration file; it would be {}\n", default_config_file().string())
          : fmt::format("# {}\n", settings.file().string());
  const VerbPage& wanted = find_page(root, verb);
  for (const VerbPage* page : all_pages(wanted)) {
    if (!page->verbs.empty()) continue;
    std::string lines;
    for (const auto& [group, options] : by_group(*page))
      for (const OptionPage* option : options)
        if (option->configurable) lines += setting_line(settings, *page, *option);
    if (!lines.empty()) text += fmt::format("\n[{}]\n{}", fmt::join(page->path, "."), lines);
  }
  print(text);
  return kOk;
}

void add_config(CLI::App& app, Action& action) {
  const auto verb = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("config", "values of options and where each comes from");
  command->add_option("VERB", *verb, "words of a verb (default: all)");
  command->footer(
      "The order is: command line, environment (DIARIST_DEVICE for --device and so on),\n"
      "configuration file, built in. What is printed is a configuration file itself: keys at its\n"
      "top or under [all] hold for all verbs that know them, those under [run] for one.\n\n"
      "Examples:\n"
      "  diarist config run\n"
      "  DIARIST_DEVICE=cuda diarist config models pull");
  command->callback(
      [&app, verb, &action] { action = [&app, verb] { return config(app, *verb); }; });
}

}  // namespace

void add_shell_commands(CLI::App& app, Action& action) {
  add_config(app, action);
  add_completions(app, action);
  add_man(app, action);
}

}  // namespace diarist::cli
