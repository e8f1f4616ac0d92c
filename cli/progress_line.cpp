#include "progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace diarist::cli {

ProgressLine::ProgressLine(std::string name)
    : name_(std::move(name)), shown_(isatty(STDERR_FILENO) != 0), start_(Clock::now()) {}

void ProgressLine::show(const Progress& progress) {
  if (!shown_) return;
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  std::string line = fmt::format("{}: {} {:.0f} s", name_, progress.stage, progress.done_seconds);
  if (progress.total_seconds > 0) line += fmt::format(" of {:.0f} s", progress.total_seconds);
  if (elapsed > 0.5) line += fmt::format(", {:.1f} x real time", progress.done_seconds / elapsed);
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
  dirty_ = true;
}

void ProgressLine::clear() {
  if (dirty_) std::fputs("\r\033[K", stderr);
  dirty_ = false;
}

}  // namespace diarist::cli
