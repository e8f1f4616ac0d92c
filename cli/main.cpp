// The program: parses the command line, runs one verb, turns errors into exit codes.

#include <algorithm>
#include <csignal>
#include <exception>
#include <string>
#include <vector>

#include "commands.hpp"
#include "diarist/error.hpp"
#include "diarist/info.hpp"
#include "help_text.hpp"
#include "interrupt.hpp"
#include "manners.hpp"
#include "output_files.hpp"
#include "settings.hpp"
#include "shell_commands.hpp"
#include "usage_errors.hpp"

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
      return cli::interrupted_exit_code();
    default:
      return cli::kSomeFailed;
  }
}

// \return the exit code of a command line that has no work in it.
int finish_without_work(CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& words) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
    return app.exit(error) == 0 ? cli::kOk : cli::kUsage;  // --help, --version
  cli::complain(cli::usage_error(app, error, words));
  return cli::kUsage;
}

// \return false when there is nothing to run; `code` is the exit code then.
bool parse(CLI::App& app, int argc, char** argv, int& code) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  // A program that asked for events gets the complaint about its command line as one, too.
  const bool events = std::find(words.begin(), words.end(), "--json-progress") != words.end();
  cli::manners().json_progress = events;
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    code = finish_without_work(app, error, words);
  } catch (const diarist::Error& error) {  // from the environment or a configuration file
    cli::complain(error.what());
    code = cli::kUsage;
  }
  return false;
}

int run_action(const cli::Action& action) {
  try {
    return action();
  } catch (const diarist::Error& error) {
    if (error.code() == ErrorCode::kCancelled)
      cli::tell_interrupted();
    else
      cli::complain(error.what());
    return exit_code_of(error.code());
  } catch (const std::exception& error) {
    cli::complain(error.what());
    return cli::kSomeFailed;
  }
}

int run(const cli::Action& action) {
  const int code = run_action(action);
  cli::tell_end(code);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe shows up as a failed write and ends quietly
  std::signal(SIGXFSZ, SIG_IGN);  // and so does a limit on the size of files, with its reason
  CLI::App app{"diarist: who spoke when in a recording"};
  app.set_version_flag("--version", std::string("diarist ") + diarist::version(),
                       "print the version and exit");
  app.set_help_flag("-h,--help", "print this text and exit");
  app.require_subcommand(1);
  app.footer(
      "Every verb explains itself: diarist run --help, or man diarist-run.\n\n"
      "Exit codes: 0 ok, 1 an input, an output or the device failed, 2 wrong usage,\n"
      "3 models missing or bad, 4 differences found (diff --exit-code), 130 or 143 interrupted.\n\n"
      "Examples:\n"
      "  diarist models pull open                # once\n"
      "  diarist run meeting.wav");
  cli::Action action;
  cli::add_run(app, action);
  cli::add_cluster(app, action);
  cli::add_embed(app, action);
  cli::add_models(app, action);
  cli::add_voices(app, action);
  cli::add_convert(app, action);
  cli::add_label(app, action);
  cli::add_report(app, action);
  cli::add_score(app, action);
  cli::add_diff(app, action);
  cli::add_info(app, action);
  cli::add_bench(app, action);
  cli::add_tune(app, action);
  cli::add_shell_commands(app, action);
  cli::add_manners(app);
  cli::use_help_text(app);
  cli::use_settings(app);
  int code = cli::kOk;
  if (!parse(app, argc, argv, code)) return code;
  return run(action);
}
