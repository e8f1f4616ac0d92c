// diarist score: error rates of a hypothesis against a reference.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "diarist/scoring.hpp"
#include "diarist/turn_inputs.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

struct ScoreArguments {
  std::string reference;
  std::string hypothesis;
  std::string uem;
  std::string compare;
  ScoringOptions options;
  BootstrapOptions bootstrap;
  int resamples = 0;  // 0: no intervals
  std::string format = "table";
  std::string interval = "bca";
  bool json = false;
  bool mapping = false;
};

constexpr const char* kConventions =
    "REF and HYP: a file of turns (RTTM or another format that diarist reads, any number of\n"
    "recordings), a folder of such files, or @LIST, a text file with one path per line.\n"
    "Recordings are matched by id; if each side has one, the ids may differ.\n"
    "The diarization error rate (DER) is missed speech, false alarm and confusion as a share\n"
    "of the reference speech, under the best one-to-one pairing of speakers; the Jaccard error\n"
    "rate (JER) weighs every reference speaker alike. Overlap is scored.\n"
    "Collar: seconds on EACH side of every reference boundary, as in NIST's md-eval;\n"
    "pyannote.metrics' collar is the full width, twice this number.\n"
    "Without a UEM everything from 0 to the last end of either side is scored.\n"
    "Examples:\n"
    "  diarist score ref.rttm hyp.rttm --collar 0.25\n"
    "  diarist score ref/ hyp/ --uem all.uem --bootstrap 10000\n"
    "  diarist score @ref.txt old/ --compare new/ --format markdown > report.md\n"
    "docs/scoring.md has the rules, docs/evaluation.md the customs of AMI, VoxConverse, DIHARD.";

TurnInputs read_side(const std::string& what) {
  TurnInputs inputs = read_turn_inputs(what);
  for (const std::string& note : inputs.notes) complain(note);
  return inputs;
}

// Of many recordings only the first warnings are printed; JSON and Markdown have them all.
void warn_of(const std::vector<std::string>& warnings) {
  constexpr std::size_t kMost = 20;
  for (std::size_t i = 0; i < std::min(kMost, warnings.size()); ++i) {
    warn(warnings[i]);
  }
  if (warnings.size() > kMost) {
    warn(fmt::format("and {} more, all of them in --json", warnings.size() - kMost));
  }
}

ScoreReport scored(const RttmFile& reference, const std::string& hypothesis,
                   const ScoringOptions& options) {
  ScoreReport report = score_files(reference, read_side(hypothesis).turns, options);
  warn_of(report.warnings);
  return report;
}

int score(ScoreArguments arguments) {
  if (!arguments.uem.empty()) arguments.options.uem = read_region_inputs(arguments.uem);
  const RttmFile reference = read_side(arguments.reference).turns;
  ScoreReport report = scored(reference, arguments.hypothesis, arguments.options);
  if (arguments.interval == "percentile") {
    arguments.bootstrap.method = IntervalMethod::kPercentile;
  }
  if (arguments.resamples > 0) {
    arguments.bootstrap.resamples = arguments.resamples;
    report.intervals = bootstrap_scores(report, arguments.bootstrap);
  }
  if (!arguments.compare.empty()) {
    const ScoreReport other = scored(reference, arguments.compare, arguments.options);
    report.comparison = compare_scores(report, other, arguments.bootstrap);
  }
  if (arguments.json || arguments.format == "json") {
    print(to_json(report, arguments.options));
  } else if (arguments.format == "markdown") {
    print(to_markdown(report, arguments.options, arguments.mapping));
  } else if (arguments.format == "csv") {
    print(to_csv(report));
  } else {
    print(to_table(report, arguments.options, arguments.mapping));
  }
  return kOk;
}

void add_statistics(CLI::App& command, ScoreArguments& arguments) {
  command
      .add_option("--bootstrap", arguments.resamples,
                  "confidence intervals of DER and JER from N resamples of the recordings")
      ->type_name("N")
      ->check(CLI::Range(1, 10'000'000));
  command.add_option("--seed", arguments.bootstrap.seed, "start of the random draws")
      ->type_name("S")
      ->capture_default_str();
  command.add_option("--level", arguments.bootstrap.level, "share of the intervals")
      ->type_name("P")
      ->capture_default_str();
  command.add_option("--interval", arguments.interval, "kind of interval: bca, percentile")
      ->type_name("KIND")
      ->check(CLI::IsMember({"bca", "percentile"}).description(""))
      ->capture_default_str();
  command
      .add_option("--compare", arguments.compare,
                  "turns of a second system: DER difference (HYP - HYP2) with an interval, sign "
                  "test, permutation test")
      ->type_name("HYP2");
}

}  // namespace

void add_score(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command = app.add_subcommand(
      "score", "DER with its parts, JER and speaker counts of turns against a reference");
  command->add_option("reference", arguments->reference, "who really spoke")
      ->required()
      ->type_name("REF");
  command->add_option("hypothesis", arguments->hypothesis, "turns to be judged")
      ->required()
      ->type_name("HYP");
  command
      ->add_option("--collar", arguments->options.collar,
                   "seconds left unscored on each side of every reference boundary")
      ->capture_default_str();
  command->add_flag("--skip-overlap", arguments->options.skip_overlap,
                    "leave out where the reference has two or more voices");
  command
      ->add_option("--uem", arguments->uem,
                   "score the regions in this NIST UEM file only (or a folder, or @LIST)")
      ->type_name("FILE");
  command->add_flag("--md-eval", arguments->options.md_eval,
                    "the rules of NIST's md-eval where they differ (docs/scoring.md)");
  add_statistics(*command, *arguments);
  command->add_flag("--mapping", arguments->mapping, "print who was paired with whom");
  command->add_option("--format", arguments->format, "table, json, markdown, csv")
      ->check(CLI::IsMember({"table", "json", "markdown", "csv"}))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "the same as --format json (docs/json.md)");
  command->footer(kConventions);
  command->callback([arguments, &action] { action = [arguments] { return score(*arguments); }; });
}

}  // namespace diarist::cli
