// The program: parses the command line, runs one verb, turns errors into exit codes.

#include <csignal>
#include <exception>
#include <string>

#include "commands.hpp"
#include "diarist/error.hpp"
#include "diarist/info.hpp"
#include "output_files.hpp"

namespace {

using diarist::ErrorCode;
namespace cli = diarist::cli;

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return cli::kUsage;
    case ErrorCode::kBadModel:
      return cli::kModels;
    case ErrorCode::kCancelled:
      return cli::kInterrupted;
    default:
      return cli::kSomeFailed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe shows up as a failed write and ends quietly
  CLI::App app{"diarist: who spoke when in a recording"};
  app.set_version_flag("--version", std::string("diarist ") + diarist::version());
  app.require_subcommand(1);
  // One line, like all other errors.
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "diarist: " + cli::one_line(error.what()) + "; see diarist --help\n";
  });
  app.footer(
      "Start with: diarist models pull open && diarist run meeting.wav\n"
      "Exit codes: 0 ok, 1 an input, an output or the device failed, 2 wrong usage, "
      "3 models missing or bad, 4 differences found (diff --exit-code), 130 interrupted");
  cli::Action action;
  cli::add_run(app, action);
  cli::add_cluster(app, action);
  cli::add_embed(app, action);
  cli::add_models(app, action);
  cli::add_convert(app, action);
  cli::add_report(app, action);
  cli::add_score(app, action);
  cli::add_diff(app, action);
  cli::add_info(app, action);
  cli::add_bench(app, action);
  cli::add_tune(app, action);
  cli::add_label(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::kOk : cli::kUsage;
  }
  try {
    return action();
  } catch (const diarist::Error& error) {
    cli::complain(error.what());
    return exit_code_of(error.code());
  } catch (const std::exception& error) {
    cli::complain(error.what());
    return cli::kSomeFailed;
  }
}
