#include "output_files.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "diarist/error.hpp"

namespace diarist::cli {

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
  std::fprintf(stderr, "diarist: %s\n", one_line(text).c_str());
}

RunControl talking_control(std::stop_token stop) {
  RunControl control;
  control.stop = std::move(stop);
  control.log = [](LogLevel level, std::string_view text) {
    if (level != LogLevel::kDebug) complain(text);
  };
  return control;
}

void write_file(const std::filesystem::path& file, std::string_view text) {
  const std::string temporary = fmt::format("{}.{}.tmp", file.string(), getpid());
  const auto give_up = [&](const char* what) {
    const int reason = errno;
    std::remove(temporary.c_str());
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: can't {}: {}", file.string(), what, std::strerror(reason)));
  };
  std::FILE* stream = std::fopen(temporary.c_str(), "wb");
  if (stream == nullptr) give_up("write");
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  const bool closed = std::fclose(stream) == 0;
  if (!written || !closed) give_up("write");
  if (std::rename(temporary.c_str(), file.c_str()) != 0) give_up("rename");
}

void check_output_place(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(file, ignored)) return;  // what it points to may be elsewhere
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kBadFile, fmt::format("{}: {}", file.string(), what));
  };
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored))
    refuse("is no file and can't be replaced; give the name of a file");
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
