// diarist tune: measure kernels on this GPU and keep the choices, or check a file of them.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "bench_options.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

struct TuneArguments {
  BenchOptions options;
  std::string out;
  std::string check;
};

int tune(const TuneArguments& arguments) {
  const InterruptGuard interrupt;
  std::string text;
  if (!arguments.check.empty()) {
    for (const std::string& line : check_tune_file(arguments.options, arguments.check))
      text += line + "\n";
    print(text +
          fmt::format("{}: valid for this device, driver and kernel set\n", arguments.check));
    return kOk;
  }
  check_output_place(arguments.out);
  for (const std::string& line :
       tune_embed(arguments.options, arguments.out, talking_control(interrupt.token())))
    text += line + "\n";
  print(text + fmt::format("written to {}\n", arguments.out));
  return kOk;
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<TuneArguments>();
  arguments->options.device = "cuda";
  arguments->options.seconds = 0.2;
  CLI::App* command =
      app.add_subcommand("tune", "measure the kernels of this GPU, or check a tune file");
  add_bench_options(*command, arguments->options);
  CLI::Option_group* what = command->add_option_group("what", "one of");
  what->add_option("--out", arguments->out, "write the choices to this file");
  what->add_option("--check", arguments->check, "say whether this file is valid here");
  what->require_option(1);
  command->footer(
      "A tune file is good for one device, driver and kernel set; anything else refuses it.\n\n"
      "Examples:\n"
      "  diarist tune --out h200.tune\n"
      "  diarist tune --check h200.tune\n"
      "  diarist bench embed --device cuda --tune-file h200.tune");
  command->callback([arguments, &action] { action = [arguments] { return tune(*arguments); }; });
}

}  // namespace diarist::cli
