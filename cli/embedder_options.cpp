#include "embedder_options.hpp"

#include "engine_options.hpp"

namespace diarist::cli {

void add_embedder_options(CLI::App& command, EmbedderArguments& arguments) {
  add_engine_options(command, arguments.engine, true);
  command.get_option("--device")
      ->description("cpu, reference (slow, double precision), or a GPU: cuda, cuda:N");
  command
      .add_option("--weights", arguments.weights,
                  "a bundle's folder or a weight file, instead of a preset")
      ->excludes("--preset");
  command.add_option("--tune-file", arguments.tune_file, "GPUs: choices measured before");
  command.add_flag("--kernel-only", arguments.kernel_only,
                   "GPUs: use no vendor library; a layer without an own kernel is an error");
  arguments.precision = command.get_option("--precision");
}

EmbedderOptions embedder_options(const EmbedderArguments& arguments) {
  EmbedderOptions options;
  options.preset = arguments.engine.preset;
  options.models = arguments.engine.models;
  options.weights = arguments.weights;
  options.allow_unknown_weights = arguments.engine.allow_unknown_weights;
  options.device = arguments.engine.device;
  if (arguments.precision->count() > 0) options.precision = arguments.engine.precision;
  options.threads = arguments.engine.threads;
  options.target = arguments.engine.target;
  options.kernel_only = arguments.kernel_only;
  options.tune_file = arguments.tune_file;
  return options;
}

}  // namespace diarist::cli
