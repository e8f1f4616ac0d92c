#include "manners.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace diarist::cli {
namespace {

// By the words of the verb. The others are done in a moment or write nothing.
constexpr auto kWithProgress =
    std::to_array<std::string_view>({"run", "embed", "label", "report", "bench run", "bench embed",
                                     "tune", "models pull", "models import", "voices add"});
constexpr auto kWithDryRun =
    std::to_array<std::string_view>({"run", "embed", "cluster", "models pull", "models import"});

template <typename List>
bool has(const List& list, std::string_view verb) {
  return std::find(list.begin(), list.end(), verb) != list.end();
}

void add_to(CLI::App& verb, const std::string& words) {
  Manners& shared = manners();
  verb.add_option("--config", shared.config,
                  "configuration file (default: $DIARIST_CONFIG, then "
                  "$XDG_CONFIG_HOME/diarist/config.toml)");
  verb.add_flag("-q,--quiet", shared.quiet, "no progress and no warnings; errors stay");
  if (has(kWithProgress, words))
    verb.add_flag("--json-progress", shared.json_progress,
                  "progress and messages as one JSON object per line on standard error");
  if (has(kWithDryRun, words))
    verb.add_flag("--dry-run", shared.dry_run,
                  "check everything, tell what would be done, and do nothing");
}

void add_below(CLI::App& app, const std::string& words) {
  bool leaf = true;
  for (CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_name().empty()) continue;  // a group of options
    leaf = false;
    add_below(*verb, words.empty() ? verb->get_name() : words + " " + verb->get_name());
  }
  if (leaf) add_to(app, words);
}

}  // namespace

Manners& manners() {
  static Manners shared;
  return shared;
}

void add_manners(CLI::App& app) { add_below(app, ""); }

}  // namespace diarist::cli
