// diarist score: error rates of a hypothesis against a reference.

#include <memory>
#include <string>

#include "commands.hpp"
#include "diarist/formats.hpp"
#include "diarist/scoring.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

struct ScoreArguments {
  std::string reference;
  std::string hypothesis;
  ScoringOptions options;
  bool json = false;
};

constexpr const char* kConventions =
    "The diarization error rate (DER) is missed speech, false alarm and confusion as a share\n"
    "of the reference speech, under the best one-to-one pairing of speakers; the Jaccard error\n"
    "rate (JER) weighs every reference speaker alike. Overlap is scored.\n"
    "Collar: seconds on EACH side of every reference boundary, as in NIST's md-eval;\n"
    "pyannote.metrics' collar is the full width, twice this number.\n"
    "No UEM: everything from 0 to the last end of either file is scored.\n"
    "Turns are compared per recording id; if each file has one id, the names may differ.";

int score(const ScoreArguments& arguments) {
  const ScoreReport report = score_files(read_rttm(arguments.reference),
                                         read_rttm(arguments.hypothesis), arguments.options);
  for (const std::string& warning : report.warnings) {
    warn(warning);
  }
  print(arguments.json ? to_json(report, arguments.options) : to_table(report, arguments.options));
  return kOk;
}

}  // namespace

void add_score(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command = app.add_subcommand("score", "DER with its parts and JER of two RTTM files");
  command->add_option("reference", arguments->reference, "RTTM of who really spoke")
      ->required()
      ->type_name("REF.rttm");
  command->add_option("hypothesis", arguments->hypothesis, "RTTM to be judged")
      ->required()
      ->type_name("HYP.rttm");
  command
      ->add_option("--collar", arguments->options.collar,
                   "seconds left unscored on each side of every reference boundary")
      ->capture_default_str();
  command->add_flag("--skip-overlap", arguments->options.skip_overlap,
                    "leave out where the reference has two or more voices");
  command->add_flag("--json", arguments->json, "print JSON at full precision (docs/json.md)");
  command->footer(kConventions);
  command->callback([arguments, &action] { action = [arguments] { return score(*arguments); }; });
}

}  // namespace diarist::cli
