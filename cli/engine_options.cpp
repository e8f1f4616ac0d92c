#include "engine_options.hpp"

namespace diarist::cli {

void add_engine_options(CLI::App& command, DiarizerOptions& options, bool runs_networks) {
  command.add_option("--preset", options.preset,
                     "open, open-lite, community-1 or pyannote-3.1 (default: community-1 when it "
                     "is installed, else open)");
  command.add_option("--models", options.models,
                     "folder with the model bundles (default: $DIARIST_MODELS, then the cache)");
  command.add_flag("--allow-unknown-weights", options.allow_unknown_weights,
                   "accept weights whose fingerprint is not known, and test weights");
  if (!runs_networks) return;
  command
      .add_option("--device", options.device,
                  "cpu, cuda (all GPUs), cuda:0, cuda:0,1, or reference (slow, double precision)")
      ->capture_default_str();
  command
      .add_option(
          "--precision", options.precision,
          "exact (FP32), fast (GPUs, and processors with bf16 products: see `diarist info`; "
          "an error elsewhere), or tf32 (GPUs, for comparison)")
      ->transform(one_of<Precision>(
          {{"exact", Precision::kExact}, {"fast", Precision::kFast}, {"tf32", Precision::kTf32}}));
  command.add_option("--threads", options.threads, "worker threads (0: all processors)")
      ->check(zero_or_more());
  command
      .add_option("--batch", options.batch,
                  "windows per batch (0: what suits the device); never changes a result")
      ->check(zero_or_more());
  command
      .add_option("--max-gpu-memory", options.max_gpu_memory,
                  "most to take of each GPU's memory, e.g. 4G (default: 9/10 of what is free)")
      ->transform(CLI::AsSizeValue(false));
  command.add_option("--cpu-target", options.target,
                     "force an instruction set listed by `diarist info`, e.g. AVX2 or "
                     "AVX3+AVX512_BF16; on a GPU a family of "
                     "kernels: hopper, portable, fp32 or library");
}

void add_speaker_options(CLI::App& command, RunOptions& options) {
  command.add_option("--num-speakers", options.speakers.num,
                     "exact number of speakers; never more come out than asked for");
  command.add_option("--min-speakers", options.speakers.min,
                     "at least so many; a warning tells when the recording has fewer");
  command.add_option("--max-speakers", options.speakers.max, "at most so many");
  command.add_flag("--reference", options.reference,
                   "print exactly what the reference pipeline prints");
}

CLI::Validator zero_or_more() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const bool negative = text.starts_with('-');
        return negative ? text + " is negative; give 0 or more" : std::string();
      },
      "");
}

}  // namespace diarist::cli
