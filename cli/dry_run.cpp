#include "dry_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "commands.hpp"
#include "diarist/error.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

// A run over the first tenth of a second checks the options, opens the recording and decodes: what
// a run would refuse at its start, this refuses.
void check_recording(const Diarizer& diarizer, const std::string& input, RunOptions options) {
  const double end = options.audio.from + 0.1;
  options.audio.to = std::min(options.audio.to.value_or(end), end);
  RunControl control;
  control.log = [&](LogLevel level, std::string_view text) {
    if (level == LogLevel::kWarning) warn(text, input);
  };
  diarizer.run(std::filesystem::path(input), options, control);
}

}  // namespace

void check_target(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (std::filesystem::is_directory(folder, error)) {
    check_output_place(file);
    return;
  }
  while (!std::filesystem::exists(folder, error)) {
    folder =
        folder.has_parent_path() && folder.parent_path() != folder ? folder.parent_path() : ".";
  }
  if (!std::filesystem::is_directory(folder, error))
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: {} is no folder", file.string(), folder.string()));
  if (access(folder.c_str(), W_OK) != 0)
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: can't make a folder in {} ({})", file.string(), folder.string(),
                            std::strerror(errno)));
}

int dry_run(const Diarizer& diarizer, const std::string& device,
            const std::vector<std::string>& inputs, const RunOptions& options,
            const TargetsOf& targets) {
  std::string text =
      fmt::format("would diarize {} recording{} with preset {} on {}\n", inputs.size(),
                  inputs.size() == 1 ? "" : "s", diarizer.preset(), device);
  bool failed = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& input = inputs[i];
    try {
      const bool piped = input == "-";  // what is read here would be missing in the real run
      if (!piped) check_recording(diarizer, input, options);
      std::string places;
      for (const std::filesystem::path& target : targets(i)) {
        check_target(target);
        std::error_code error;
        places += fmt::format("{}{}{}", places.empty() ? "" : ", ", target.string(),
                              std::filesystem::exists(target, error) ? " (replaced)" : "");
      }
      text += fmt::format("{}{} -> {}\n", one_line(input), piped ? " (not looked at)" : "",
                          places.empty() ? "standard output" : one_line(places));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kInvalidArgument) throw;
      const std::string what = error.what();
      complain(what.starts_with(input + ":") ? what : fmt::format("{}: {}", input, what));
      failed = true;
    } catch (const std::bad_alloc&) {
      complain(fmt::format("{}: not enough memory", input));
      failed = true;
    }
  }
  print(text);
  return failed ? kSomeFailed : kOk;
}

}  // namespace diarist::cli
