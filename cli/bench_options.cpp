#include "bench_options.hpp"

#include <string>
#include <utility>

#include "engine_options.hpp"

namespace diarist::cli {

void add_bench_options(CLI::App& command, BenchOptions& options) {
  command.add_option("--device", options.device, "cpu, reference, cuda or cuda:N")
      ->capture_default_str();
  command.add_option("--threads", options.threads, "worker threads of a CPU (0: all processors)")
      ->check(zero_or_more());
  command.add_option("--cpu-target", options.target,
                     "force an instruction set listed by `diarist info`");
  command.add_option("--weights", options.weights,
                     "a bundle's folder or a weight file of the WeSpeaker ResNet34 (default: "
                     "random weights)");
  command.add_flag("--allow-unknown-weights", options.allow_unknown_weights,
                   "accept weights whose fingerprint is not known, and test weights");
  command
      .add_option("--batch", options.batches,
                  "chunks per batch, separated by commas (default: 1,32,128 on a GPU, else 1,2)")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
  command
      .add_option("--precision", options.precisions,
                  "exact, fast, tf32, separated by commas (default: fast,exact on a GPU, else "
                  "exact)")
      ->delimiter(',')
      ->transform(one_of<Precision>(
          {{"exact", Precision::kExact}, {"fast", Precision::kFast}, {"tf32", Precision::kTf32}}));
  command
      .add_option("--seconds", options.seconds,
                  "load behind each figure; a GPU's clock needs several to settle")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
}

}  // namespace diarist::cli
