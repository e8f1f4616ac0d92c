#include "output/activity_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "output/number_text.hpp"
#include "output/terminal_text.hpp"

namespace diarist::output {
namespace {

constexpr std::array<const char*, 9> kBlocks = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

const char* cell_text(double share, bool ascii) {
  if (!(share > 0)) return ascii ? "." : kBlocks[0];
  if (ascii) return share < 0.5 ? "-" : "#";
  const int height = static_cast<int>(std::ceil(share * 8 - 1e-9));
  return kBlocks[static_cast<std::size_t>(std::clamp(height, 1, 8))];
}

std::string lane(const Diarization& result, std::size_t speaker, int cells, bool ascii) {
  const double cell_seconds = seconds_shown(result) / cells;
  std::vector<double> filled(static_cast<std::size_t>(cells), 0.0);
  for (const Turn& turn : result.turns) {
    if (static_cast<std::size_t>(turn.speaker) != speaker) continue;
    const int first = std::clamp(static_cast<int>(turn.start / cell_seconds), 0, cells - 1);
    const int last = std::clamp(static_cast<int>(turn.end / cell_seconds), 0, cells - 1);
    for (int cell = first; cell <= last; ++cell) {
      const double from = std::max(turn.start, cell * cell_seconds);
      const double to = std::min(turn.end, (cell + 1) * cell_seconds);
      filled[static_cast<std::size_t>(cell)] += std::max(0.0, to - from);
    }
  }
  std::string text;
  for (const double seconds : filled) text += cell_text(seconds / cell_seconds, ascii);
  return text;
}

// "0:30", "1:02:00": whole seconds.
std::string tick_text(std::int64_t seconds) {
  const std::string clock = clock_text(seconds * 1000);
  return clock.substr(0, clock.size() - 4);
}

// Smallest round step whose ticks stand at least 12 columns apart.
std::int64_t tick_step(double seconds, int cells) {
  constexpr std::array<std::int64_t, 13> kSteps = {1,   2,   5,   10,  15,   30,  60,
                                                   120, 300, 600, 900, 1800, 3600};
  const double least = 12 * seconds / cells;
  for (const std::int64_t step : kSteps) {
    if (static_cast<double>(step) >= least) return step;
  }
  std::int64_t step = kSteps.back();
  while (static_cast<double>(step) < least) step *= 2;
  return step;
}

std::string axis(double seconds, int cells) {
  std::string text;
  const std::int64_t step = tick_step(seconds, cells);
  for (std::int64_t at = 0; static_cast<double>(at) < seconds; at += step) {
    const auto column = static_cast<std::size_t>(static_cast<double>(at) / seconds * cells);
    const std::string tick = fmt::format("|{}", tick_text(at));
    if (column + tick.size() > static_cast<std::size_t>(cells)) break;
    text.resize(column, ' ');
    text += tick;
  }
  return text;
}

}  // namespace

double seconds_shown(const Diarization& result) {
  double seconds = std::isfinite(result.duration) ? result.duration : 0;
  if (seconds > 0) return seconds;
  for (const Turn& turn : result.turns) seconds = std::max(seconds, turn.end);
  return seconds;
}

std::string activity_picture(const Diarization& result, int columns, bool ascii) {
  const double seconds = seconds_shown(result);
  // More than a century can't be an axis of int64 milliseconds that anyone reads.
  if (!(seconds > 0) || seconds > 4e9) return "";
  std::vector<std::string> names;
  int name_width = 0;
  for (const Speaker& speaker : result.speakers) {
    names.push_back(shown(speaker.name, columns / 3, ascii));
    name_width = std::max(name_width, text_width(names.back()));
  }
  const int cells = columns - name_width - 1;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += pad_right(names[i], name_width) + " " + lane(result, i, cells, ascii) + "\n";
  }
  return text + pad_right("", name_width) + " " + axis(seconds, cells) + "\n";
}

}  // namespace diarist::output
