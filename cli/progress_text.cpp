#include "progress_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terminal.hpp"

namespace diarist::cli {

std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(std::max(seconds, 0.0)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string progress_text(const std::string& what, double fraction, double rate, double left,
                          int columns) {
  std::string figures;
  if (fraction >= 0) figures += fmt::format(" {:3.0f} %", 100 * std::min(fraction, 1.0));
  if (rate > 0)
    figures += rate < 9.95 ? fmt::format("  {:.1f} x real time", rate)
                           : fmt::format("  {:.0f} x real time", rate);
  if (left >= 0) figures += fmt::format(", {} left", clock_text(left));
  // The last column stays free: some terminals wrap after it.
  const int room = columns - 1 - width_of(figures);
  if (room < 8)  // figures alone
    return shortened(figures.substr(std::min(figures.find_first_not_of(" ,"), figures.size())),
                     columns - 1);
  const int bar = fraction >= 0 && room >= 36 ? std::min(24, room / 3) : 0;
  std::string line = shortened(what, room - (bar > 0 ? bar + 3 : 0));
  if (bar > 0) {
    const auto full = static_cast<std::size_t>(std::lround(std::min(fraction, 1.0) * bar));
    line += fmt::format(" [{}{}]", std::string(full, '='),
                        std::string(static_cast<std::size_t>(bar) - full, ' '));
  }
  return line + figures;
}

}  // namespace diarist::cli
