#include "output_files.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "diarist/error.hpp"
#include "json_progress.hpp"
#include "manners.hpp"
#include "terminal.hpp"
#include "work_done.hpp"

namespace diarist::cli {
namespace {

std::mutex& progress_mutex() {
  static std::mutex* const kShared = new std::mutex;  // outlives every thread that draws
  return *kShared;
}
bool progress_shown = false;  // under progress_mutex()

void say(const std::string& line, bool red) {
  clear_progress();
  std::fprintf(stderr, red ? "\033[31mdiarist:\033[0m %s\n" : "diarist: %s\n", line.c_str());
}

}  // namespace

bool print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return true;
  if (errno == EPIPE) return false;
  throw Error(ErrorCode::kBadFile,
              fmt::format("standard output: can't write: {}", std::strerror(errno)));
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      line += fmt::format("\\x{:02x}", byte);
    else
      line += c;
  }
  return line;
}

void complain(std::string_view text) {
  if (manners().json_progress) {
    emit_event("error", {{"text", text}});
    return;
  }
  say(one_line(text), has_colours(STDERR_FILENO));
}

void warn(std::string_view text, std::string_view about) {
  if (manners().quiet) return;
  // Warnings about the file often name it already.
  const std::string start = one_line(about) + ": ";
  if (!about.empty() && text.starts_with(start)) text.remove_prefix(start.size());
  if (manners().json_progress) {
    nlohmann::ordered_json fields = {{"text", text}};
    if (!about.empty()) fields["recording"] = about;
    emit_event("warning", fields);
    return;
  }
  say(one_line(about.empty() ? fmt::format("warning: {}", text)
                             : fmt::format("{}: warning: {}", about, text)),
      false);
}

void note(std::string_view text) {
  if (manners().json_progress) {
    emit_event("note", {{"text", text}});
    return;
  }
  clear_progress();
  std::fprintf(stderr, "%s\n", std::string(text).c_str());
}

void tell_end(int exit_code) {
  if (manners().json_progress) emit_event("end", {{"exit_code", exit_code}});
}

void draw_progress(std::string_view line) {
  const std::lock_guard lock(progress_mutex());
  std::fprintf(stderr, "\r\033[K%s", std::string(line).c_str());
  std::fflush(stderr);
  progress_shown = true;
}

void clear_progress() {
  const std::lock_guard lock(progress_mutex());
  if (progress_shown) std::fputs("\r\033[K", stderr);
  progress_shown = false;
}

RunControl talking_control(std::stop_token stop) {
  RunControl control;
  control.stop = std::move(stop);
  control.log = [](LogLevel level, std::string_view text) {
    if (level == LogLevel::kDebug || manners().quiet) return;
    if (!manners().json_progress)
      say(one_line(text), false);
    else
      emit_event(level == LogLevel::kWarning ? "warning" : "note", {{"text", text}});
  };
  return control;
}

namespace {

// What a chain of symbolic links leads to, whether it is there or not.
std::filesystem::path link_target(std::filesystem::path file) {
  std::error_code error;
  for (int i = 0; i < 40 && std::filesystem::is_symlink(file, error); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(file, error);
    if (error) break;
    file = next.is_absolute() ? next : file.parent_path() / next;
  }
  return file;
}

// A file of its own beside the target: short, since the target's name may use all the length there
// is. `name` gets its path. \return null with errno set.
std::FILE* create_beside(const std::filesystem::path& target, std::string& name) {
  name = (target.parent_path() / ".diarist-XXXXXX").string();
  const int handle = mkstemp(name.data());
  if (handle < 0) return nullptr;
  // The mode of what is replaced, else that of any file that is made.
  struct stat old {};
  const mode_t mask = umask(0);
  umask(mask);
  const mode_t mode = stat(target.c_str(), &old) == 0 ? old.st_mode & 07777 : 0666 & ~mask;
  if (fchmod(handle, mode) != 0) {
    close(handle);
    return nullptr;
  }
  return fdopen(handle, "wb");
}

bool replaceable(const std::filesystem::path& target) {
  std::error_code ignored;
  return !std::filesystem::exists(target, ignored) ||
         std::filesystem::is_regular_file(target, ignored);
}

}  // namespace

void write_file(const std::filesystem::path& file, std::string_view text) {
  const std::lock_guard lock(output_mutex());
  const std::filesystem::path target = link_target(file);
  const bool replaced = replaceable(target);
  std::string written = target.string();
  std::FILE* const stream =
      replaced ? create_beside(target, written) : std::fopen(written.c_str(), "wb");
  const auto give_up = [&](const char* what, int reason) {
    if (replaced) std::remove(written.c_str());
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: can't {}: {}", file.string(), what, std::strerror(reason)));
  };
  if (stream == nullptr) give_up("write", errno);
  int reason = std::fwrite(text.data(), 1, text.size(), stream) == text.size() ? 0 : errno;
  if (std::fclose(stream) != 0 && reason == 0) reason = errno;
  if (reason != 0) give_up("write", reason);
  if (replaced && std::rename(written.c_str(), target.c_str()) != 0) give_up("rename", errno);
}

void refuse_shared_files(const std::vector<std::string>& inputs,
                         const std::vector<std::filesystem::path>& outputs) {
  std::error_code ignored;
  const auto refuse = [](const std::string& text) {
    throw Error(ErrorCode::kInvalidArgument, text);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::filesystem::path& output = outputs[i];
    if (std::filesystem::exists(output, ignored) && !replaceable(output)) continue;  // a device
    for (const std::string& input : inputs)
      if (std::filesystem::equivalent(input, output, ignored))
        refuse(fmt::format("{}: is read, so it can't be written as well; name another output",
                           output.string()));
    for (std::size_t k = 0; k < i; ++k)
      if (output.lexically_normal() == outputs[k].lexically_normal() ||
          std::filesystem::equivalent(output, outputs[k], ignored))
        refuse(
            fmt::format("{}: two results would be written to it; name two files", output.string()));
  }
}

void check_output_place(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(file, ignored)) return;  // what it points to may be elsewhere
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kBadFile, fmt::format("{}: {}", file.string(), what));
  };
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (std::filesystem::is_directory(file, ignored)) refuse("is a folder; give the name of a file");
  if (!replaceable(file)) return;  // a pipe or a device: tried when there is something to write
  if (!std::filesystem::is_directory(folder, ignored))
    refuse(fmt::format("there is no folder {}; make it or name another", folder.string()));
  if (access(folder.c_str(), W_OK) != 0)
    refuse(fmt::format("can't write in folder {} ({}); name another", folder.string(),
                       std::strerror(errno)));
}

std::vector<std::string> unique_ids(const std::vector<std::string>& inputs) {
  std::map<std::string, int> stems;
  const auto stem_of = [](const std::string& input) {
    return input == "-" ? "stdin" : std::filesystem::path(input).stem().string();
  };
  for (const std::string& input : inputs) ++stems[stem_of(input)];
  std::vector<std::string> ids;
  std::set<std::string> taken;
  for (const std::string& input : inputs) {
    const std::filesystem::path path(input);
    std::string wanted = stem_of(input);
    if (stems[wanted] > 1 && input != "-") wanted = path.filename().string();
    std::string id = wanted;
    // "a.wav" twice and "a.wav.2.wav" must not meet either.
    for (int count = 2; !taken.insert(id).second; ++count) id = fmt::format("{}.{}", wanted, count);
    ids.push_back(std::move(id));
  }
  return ids;
}

int terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col < 40 ? 40 : size.ws_col;
}

}  // namespace diarist::cli
