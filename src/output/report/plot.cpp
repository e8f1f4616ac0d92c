#include "output/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "diarist/waveform.hpp"
#include "output/number_text.hpp"
#include "output/report/markup.hpp"
#include "output/report/page_data.hpp"
#include "output/speaker_name.hpp"

namespace diarist::output {
namespace {

constexpr double kMargin = 16;
constexpr double kTitle = 34;
constexpr double kWave = 74;
constexpr double kOverlap = 14;
constexpr double kLane = 26;
constexpr double kBar = 14;
constexpr double kAxis = 30;
constexpr double kLegend = 26;

constexpr Color kText = 0x1B1D20;
constexpr Color kSoft = 0x5A5F66;
constexpr Color kGrid = 0xDFE0DB;
constexpr Color kWaveColor = 0x9AA0A8;
constexpr Color kWaveBody = 0x6A7078;
// The page's colours (report.css): apart for the common kinds of colour blindness.
constexpr std::array<Color, 8> kSpeakers = {0x0072B2, 0xC77700, 0x00896B, 0xB75B92,
                                            0x3F93C9, 0xC94F0C, 0x6F5BB5, 0x7F7A18};

// Seconds between the axis' labels.
double tick_step(double seconds, double width) {
  for (const double step : {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0,
                            600.0, 900.0, 1800.0, 3600.0, 7200.0, 14400.0, 36000.0})
    if (step / seconds * width >= 78) return step;
  return 86400;
}

std::string tick_text(std::int64_t milliseconds, bool tenths) {
  const std::string text = clock_text(milliseconds);
  return text.substr(0, text.size() - (tenths ? 2 : 4));
}

// Text cut to a width, with an ellipsis of dots.
std::string cut(const std::string& text, double size, double width) {
  if (text_width(text, size) <= width) return text;
  std::string kept;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(rest));
    if (text_width(kept + "...", size) + size > width) break;
    kept += rest.substr(0, length);
    rest.remove_prefix(length);
  }
  return kept + "...";
}

// Stretches in which two or more speak.
std::vector<std::pair<double, double>> overlaps_of(const std::vector<Turn>& turns) {
  std::vector<std::pair<double, int>> edges;
  for (const Turn& turn : turns) {
    edges.emplace_back(turn.start, 1);
    edges.emplace_back(turn.end, -1);
  }
  std::sort(edges.begin(), edges.end());
  std::vector<std::pair<double, double>> overlaps;
  int depth = 0;
  for (const auto& [time, change] : edges) {
    if (depth < 2 && depth + change >= 2) overlaps.emplace_back(time, time);
    if (depth >= 2 && depth + change < 2) overlaps.back().second = time;
    depth += change;
  }
  return overlaps;
}

class Painter {
 public:
  Painter(const Diarization& result, const PlotOptions& options)
      : result_(result), seconds_(std::max(page_duration(result), 0.001)) {
    double names = 60, shares = 0;
    for (std::size_t i = 0; i < result.speakers.size(); ++i) {
      names = std::max(names, text_width(result.speakers[i].name, 12));
      shares = std::max(shares, text_width(share(i), 11));
    }
    names_ = std::min(names, options.width * 0.25);
    left_ = kMargin + names_ + 12;
    right_ = options.width - kMargin - (shares > 0 ? shares + 10 : 0);
    plot_.width = options.width;
    plot_.title = options.title.empty() ? result.uri : options.title;
  }

  Plot paint() {
    const bool wave = result_.waveform && !result_.waveform->peak.empty();
    const double wave_top = kMargin + (plot_.title.empty() ? 0 : kTitle);
    const double overlap_top = wave_top + (wave ? kWave + 8 : 0);
    lanes_top_ = overlap_top + kOverlap + 4;
    const std::size_t lanes = std::max<std::size_t>(1, result_.speakers.size());
    axis_ = lanes_top_ + kLane * static_cast<double>(lanes);
    plot_.height = axis_ + kAxis + kLegend + kMargin / 2;
    add(PlotBox{0, 0, plot_.width, plot_.height, 0xFFFFFF});
    if (!plot_.title.empty())
      add(PlotText{kMargin, kMargin + 16, 16, Anchor::kStart, kText, true,
                   cut(plot_.title, 16.5, plot_.width - 2 * kMargin)});
    draw_axis(wave_top);
    if (wave) draw_wave(wave_top);
    draw_overlaps(overlap_top);
    draw_lanes();
    draw_legend();
    return std::move(plot_);
  }

 private:
  double x_of(double seconds) const { return left_ + (right_ - left_) * seconds / seconds_; }
  void add(PlotShape shape) { plot_.shapes.push_back(std::move(shape)); }

  std::string share(std::size_t speaker) const {
    const double spoken = result_.speakers[speaker].speech_seconds;
    return fmt::format("{:.1f} s ({:.0f} %)", spoken, 100 * spoken / seconds_);
  }

  void draw_axis(double top) {
    const double step = tick_step(seconds_, right_ - left_);
    for (int i = 0; i * step <= seconds_ * (1 + 1e-9); ++i) {
      const double x = x_of(i * step);
      add(PlotBox{x - 0.5, top, 1, axis_ + 5 - top, kGrid});
      add(PlotText{x, axis_ + 18, 11, Anchor::kMiddle, kSoft, false,
                   tick_text(std::llround(i * step * 1000), step < 1)});
    }
    add(PlotBox{left_, axis_ - 0.5, right_ - left_, 1, kSoft});
  }

  void draw_wave(double top) {
    const Waveform& wave = *result_.waveform;
    const int columns = static_cast<int>(right_ - left_);
    const double middle = top + kWave / 2;
    std::uint8_t loudest = 1;
    for (const std::uint8_t level : wave.peak) loudest = std::max(loudest, level);
    PlotBars outer{{}, kWaveColor}, inner{{}, kWaveBody};
    for (int column = 0; column < columns; ++column) {
      const auto first =
          static_cast<std::size_t>(seconds_ * column / columns * Waveform::kLevelsPerSecond);
      const auto end = std::max(
          first + 1,
          static_cast<std::size_t>(seconds_ * (column + 1) / columns * Waveform::kLevelsPerSecond));
      std::uint8_t peak = 0, power = 0;
      for (std::size_t i = first; i < std::min(end, wave.peak.size()); ++i) {
        peak = std::max(peak, wave.peak[i]);
        power = std::max(power, wave.power[i]);
      }
      const auto bar = [&](std::uint8_t level) {
        const double share = std::pow(static_cast<double>(level) / loudest, 2);
        const double half = std::max(0.4, share * kWave / 2);
        return PlotBars::Bar{left_ + column, middle - half, middle + half};
      };
      outer.bars.push_back(bar(peak));
      inner.bars.push_back(bar(power));
    }
    add(std::move(outer));
    add(std::move(inner));
  }

  void draw_overlaps(double top) {
    add(PlotText{left_ - 12, top + 11, 11, Anchor::kEnd, kSoft, false, "overlap"});
    for (const auto& [start, end] : overlaps_of(result_.turns))
      add(PlotBox{x_of(start), top + 2, std::max(0.75, x_of(end) - x_of(start)), kOverlap - 4,
                  kText, 1, true});
  }

  void draw_lanes() {
    for (std::size_t i = 0; i < result_.speakers.size(); ++i) {
      const double top = lanes_top_ + kLane * static_cast<double>(i);
      add(PlotBox{left_, top, right_ - left_, 0.75, kGrid});
      add(PlotText{left_ - 12, top + 17, 12, Anchor::kEnd, kText, false,
                   cut(result_.speakers[i].name, 12, names_)});
      add(PlotText{right_ + 10, top + 17, 11, Anchor::kStart, kSoft, false, share(i)});
    }
    for (const Turn& turn : result_.turns) {
      speaker_name(result_, turn);  // checks the turn
      const Color color = kSpeakers[static_cast<std::size_t>(turn.speaker) % kSpeakers.size()];
      const double y = lanes_top_ + kLane * turn.speaker + (kLane - kBar) / 2;
      const double x = x_of(turn.start);
      const double width = std::max(0.75, x_of(turn.end) - x);
      const double sure = std::clamp((turn.confidence - 0.4) / 0.6, 0.0, 1.0);
      add(PlotBox{x, y, width, kBar - 2, color, 0.28 + 0.72 * sure});
      add(PlotBox{x, y + kBar - 2, width, 2, color});
    }
  }

  void draw_legend() {
    const double y = axis_ + kAxis + 14;
    double x = left_;
    add(PlotBox{x, y - 9, 26, 10, kText, 1, true});
    add(PlotText{x + 33, y, 11, Anchor::kStart, kSoft, false, "two or more speak"});
    const bool known = std::any_of(result_.turns.begin(), result_.turns.end(),
                                   [](const Turn& turn) { return turn.confidence < 1; });
    if (!known) return;
    x += 33 + text_width("two or more speak", 11) + 26;
    constexpr std::array<double, 3> kShades = {1.0, 0.64, 0.28};
    add(PlotText{x, y, 11, Anchor::kStart, kSoft, false, "sure"});
    x += text_width("sure", 11) + 7;
    for (const double shade : kShades) {
      add(PlotBox{x, y - 9, 14, 10, kSpeakers[0], shade});
      x += 14;
    }
    add(PlotText{x + 7, y, 11, Anchor::kStart, kSoft, false, "unsure"});
  }

  const Diarization& result_;
  double seconds_;
  double names_ = 0, left_ = 0, right_ = 0, lanes_top_ = 0, axis_ = 0;
  Plot plot_;
};

}  // namespace

double text_width(const std::string& text, double size) {
  double width = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(rest));
    const char c = rest[0];
    const bool narrow =
        length == 1 && std::string_view(" ijl.,:;'|!()[]").find(c) != std::string_view::npos;
    const bool wide = length >= 3 || (c >= 'A' && c <= 'Z') || c == '_' || c == 'm' || c == 'w';
    width += size * (narrow ? 0.36 : wide ? 0.76 : 0.6);
    rest.remove_prefix(length);
  }
  return width;
}

Plot make_plot(const Diarization& result, const PlotOptions& options) {
  if (options.width < 400 || options.width > 10000)
    base::fail(ErrorCode::kInvalidArgument, "plot of width {}: use 400 to 10000", options.width);
  check_printable(result);
  return Painter(result, options).paint();
}

}  // namespace diarist::output
