#pragma once
// Draws a plot's shapes into pixels.

#include <cstdint>
#include <vector>

#include "output/report/plot.hpp"

namespace diarist::output {

/// Rows of red, green, blue, from the top.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;
};

/// `scale` pixels per unit. Edges between pixels are blended by the share they cover.
Image rasterize(const Plot& plot, int scale);

}  // namespace diarist::output
