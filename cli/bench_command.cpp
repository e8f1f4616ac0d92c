// diarist bench: figures of one device.

#include <memory>
#include <string>

#include "bench_options.hpp"
#include "bench_report.hpp"
#include "bench_run.hpp"
#include "commands.hpp"
#include "engine_options.hpp"
#include "interrupt.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

enum class BenchFormat { kTable, kJson };

struct BenchArguments {
  BenchOptions options;
  bool profile = false, algorithms = false, fusion = false, no_check = false;
  BenchFormat format = BenchFormat::kTable;
};

template <typename Figures>
void show(const Figures& figures, BenchFormat format) {
  print(format == BenchFormat::kJson ? json_text(figures) : table_text(figures));
}

int bench(const BenchArguments& arguments) {
  const InterruptGuard interrupt;
  const RunControl control = talking_control(interrupt.token());
  BenchOptions options = arguments.options;
  options.check = !arguments.no_check;
  if (arguments.profile) {
    show(profile_embed(options, control), arguments.format);
  } else if (arguments.algorithms) {
    show(embed_algorithms(options, control), arguments.format);
  } else if (arguments.fusion) {
    show(embed_fusion(options, control), arguments.format);
  } else {
    show(bench_embed(options, control), arguments.format);
  }
  return kOk;
}

void add_embed_bench(CLI::App& benches, Action& action) {
  const auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command =
      benches.add_subcommand("embed", "speaker embedding: latency, throughput, memory, accuracy");
  add_bench_options(*command, arguments->options);
  command
      ->add_option("--family", arguments->options.family,
                   "kernels to force on a GPU: any (default), hopper, portable, fp32 or library")
      ->transform(one_of<KernelFamily>({{"any", KernelFamily::kAny},
                                        {"hopper", KernelFamily::kHopper},
                                        {"portable", KernelFamily::kPortable},
                                        {"fp32", KernelFamily::kFp32},
                                        {"library", KernelFamily::kLibrary}}));
  command->add_flag("--kernel-only", arguments->options.kernel_only,
                    "load no vendor library; a layer without an own kernel is an error");
  command->add_option("--tune-file", arguments->options.tune_file,
                      "choices measured by `diarist tune`");
  command->add_flag("--no-check", arguments->no_check,
                    "skip the comparison with the double-precision reference (seconds of work)");
  CLI::Option* profile = command->add_flag("--profile", arguments->profile,
                                           "time, TFLOP/s, GB/s and floor of every launch");
  CLI::Option* algorithms =
      command->add_flag("--algorithms", arguments->algorithms,
                        "every library algorithm and own candidate for the distinct shapes");
  CLI::Option* fusion = command->add_flag("--fusion", arguments->fusion,
                                          "fused against plain convolutions, the stride-1 shapes");
  profile->excludes(algorithms)->excludes(fusion);
  algorithms->excludes(fusion);
  command->add_option("--format", arguments->format, "table (default) or json")
      ->transform(
          one_of<BenchFormat>({{"table", BenchFormat::kTable}, {"json", BenchFormat::kJson}}));
  command->footer(
      "Figures of a GPU count when it is quiet and the load lasts several seconds: the clock and\n"
      "the power stand beside each one.\n\n"
      "Examples:\n"
      "  diarist bench embed --batch 1,2 --threads 4\n"
      "  diarist bench embed --device cuda --batch 1,32,128 --precision fast --seconds 5\n"
      "  diarist bench embed --device cuda --profile --batch 128 --precision fast");
  command->callback([arguments, &action] { action = [arguments] { return bench(*arguments); }; });
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* benches = app.add_subcommand("bench", "measure this machine");
  benches->require_subcommand(1);
  add_embed_bench(*benches, action);
  add_run_bench(*benches, action);
}

}  // namespace diarist::cli
