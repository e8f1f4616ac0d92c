#pragma once
// A plot as a list of shapes: what to draw where, whatever draws it.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "diarist/report.hpp"

namespace diarist::output {

/// 0xRRGGBB.
using Color = std::uint32_t;

struct PlotBox {
  double x = 0, y = 0, width = 0, height = 0;
  Color color = 0;
  double opacity = 1;
  bool striped = false;  // diagonal stripes of the colour, nothing between them
};

/// Vertical bars one unit wide, in one colour.
struct PlotBars {
  struct Bar {
    double x = 0, top = 0, bottom = 0;
  };
  std::vector<Bar> bars;
  Color color = 0;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct PlotText {
  double x = 0, y = 0;  // y of the baseline
  double size = 12;
  Anchor anchor = Anchor::kStart;
  Color color = 0;
  bool bold = false;
  std::string text;
};

using PlotShape = std::variant<PlotBox, PlotBars, PlotText>;

struct Plot {
  double width = 0;
  double height = 0;
  std::string title;
  std::vector<PlotShape> shapes;  // from the lowest to the uppermost
};

/// \throws Error kInvalidArgument for a width out of range.
Plot make_plot(const Diarization& result, const PlotOptions& options);

/// Roughly how wide a text of this size is.
double text_width(const std::string& text, double size);

}  // namespace diarist::output
