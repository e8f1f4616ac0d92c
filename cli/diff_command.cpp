// diarist diff: what changed between two diarizations.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "diarist/turn_diff.hpp"
#include "diarist/turn_inputs.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

struct DiffArguments {
  std::string before;
  std::string after;
  DiffOptions options;
  std::optional<std::size_t> top;
  bool json = false;
  bool exit_code = false;
};

constexpr std::size_t kMostShown = 20;

constexpr const char* kHelp =
    "A and B: files, folders or @LIST, as for diarist score. Speakers may have other names in B:\n"
    "the best one-to-one pairing tells who is who (--by-name: names count).\n"
    "Kinds: speaker (somebody else speaks), appeared, vanished, boundary (a turn that both have\n"
    "begins or ends elsewhere, or one speaker hands over to the next at another time).\n"
    "Examples:\n"
    "  diarist diff before.rttm after.rttm\n"
    "  diarist diff run1/ run2/ --min-seconds 0.5 --top 50\n"
    "  diarist diff run1/ run2/ --exit-code > /dev/null && echo the same turns";

RttmFile read_side(const std::string& what) {
  TurnInputs inputs = read_turn_inputs(what);
  for (const std::string& note : inputs.notes) complain(note);
  return std::move(inputs.turns);
}

void complain_about(const std::vector<std::string>& uris, const char* side) {
  constexpr std::size_t kMost = 5;
  if (uris.empty()) return;
  std::string text = fmt::format("warning: {} recordings only in {}:", uris.size(), side);
  for (std::size_t i = 0; i < std::min(kMost, uris.size()); ++i) text += " " + uris[i];
  complain(text + (uris.size() > kMost ? " ..." : ""));
}

int diff(const DiffArguments& arguments) {
  const DiffReport report =
      diff_turns(read_side(arguments.before), read_side(arguments.after), arguments.options);
  for (const std::string& warning : report.warnings) warn(warning);
  complain_about(report.only_before, "A");
  complain_about(report.only_after, "B");
  print(arguments.json ? to_json(report, arguments.options, arguments.top.value_or(0))
                       : to_table(report, arguments.top.value_or(kMostShown)));
  return arguments.exit_code && !report.changes.empty() ? kDiffers : kOk;
}

}  // namespace

void add_diff(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<DiffArguments>();
  CLI::App* command =
      app.add_subcommand("diff", "what changed between two diarizations, worst stretches first");
  command->add_option("before", arguments->before, "turns")->required()->type_name("A");
  command->add_option("after", arguments->after, "turns to compare with")
      ->required()
      ->type_name("B");
  command
      ->add_option("--top", arguments->top,
                   "changes to list, the longest first; 0 lists all (default: 20, in JSON all)")
      ->type_name("N");
  command->add_option("--min-seconds", arguments->options.min_seconds, "leave out shorter changes")
      ->type_name("S")
      ->capture_default_str();
  command->add_flag("--by-name", arguments->options.by_name,
                    "speakers are who they are called; no pairing");
  command->add_flag("--json", arguments->json, "print JSON (docs/json.md)");
  command->add_flag("--exit-code", arguments->exit_code, "exit with 4 when there is a change");
  command->footer(kHelp);
  command->callback([arguments, &action] { action = [arguments] { return diff(*arguments); }; });
}

}  // namespace diarist::cli
