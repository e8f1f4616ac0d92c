#pragma once
// A small font of straight strokes, drawn for this project: enough for the labels of a plot, and no
// library that would make the picture depend on the fonts of a machine.

#include <string_view>
#include <vector>

namespace diarist::output {

struct Stroke {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// Strokes of a text whose baseline starts at (x, y), y pointing down. `size` as for other fonts:
/// capitals are about 0.7 of it. Accents of Latin-1 are left out; what is unknown is a box.
std::vector<Stroke> strokes_of(std::string_view text, double size, double x, double y);

double stroked_width(std::string_view text, double size);

}  // namespace diarist::output
