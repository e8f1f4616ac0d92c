// diarist cluster: everything after the networks, from stored stages.

#include <memory>
#include <string>
#include <utility>

#include "commands.hpp"
#include "diarist/diarizer.hpp"
#include "diarist/stages.hpp"
#include "engine_options.hpp"
#include "output_files.hpp"
#include "result_sink.hpp"
#include "shaping_options.hpp"

namespace diarist::cli {
namespace {

struct ClusterArguments {
  std::string segmentations, embeddings;
  std::string uri = "audio";
  DiarizerOptions engine;
  RunOptions run;
  TurnShaping shaping;
  OutputPlace place;
};

int cluster(const ClusterArguments& arguments) {
  ResultSink sink({arguments.uri}, arguments.place);
  const StageResults stages = load_stages(arguments.segmentations, arguments.embeddings);
  Diarization result = cluster_stages({.chunks = stages.chunks,
                                       .embedding_dim = stages.embedding_dim,
                                       .activity = stages.activity,
                                       .embeddings = stages.embeddings},
                                      arguments.engine, arguments.run);
  result.uri = arguments.uri;
  result = shaped(std::move(result), arguments.shaping);
  for (const std::string& warning : result.warnings) complain("warning: " + warning);
  sink.write(0, result);
  return kOk;
}

}  // namespace

void add_cluster(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ClusterArguments>();
  CLI::App* command =
      app.add_subcommand("cluster", "turns from stored segmentations and embeddings");
  command
      ->add_option("--segmentations", arguments->segmentations,
                   "segmentations.npy [C, 589, 3] (or .npz with that array)")
      ->required();
  command
      ->add_option("--embeddings", arguments->embeddings,
                   "embeddings.npy [C, 3, D] (or .npz with that array)")
      ->required();
  command->add_option("--uri", arguments->uri, "name of the recording")->capture_default_str();
  add_engine_options(*command, arguments->engine, false);
  add_speaker_options(*command, arguments->run);
  command
      ->add_option("--step", arguments->run.step_seconds,
                   "seconds between windows, as in the run that stored the stages")
      ->capture_default_str();
  add_format_option(*command, "--format", arguments->place.formats, "rttm (default), or one of");
  add_shaping_options(*command, arguments->shaping);
  command->footer(
      "The presets open and open-lite leave out their turn check here: it needs the "
      "audio.\nExample:\n  diarist run --save-stages stages meeting.wav\n"
      "  diarist cluster --segmentations stages/segmentations.npy --embeddings "
      "stages/embeddings.npy --num-speakers 3");
  command->callback([arguments, &action] { action = [arguments] { return cluster(*arguments); }; });
}

}  // namespace diarist::cli
