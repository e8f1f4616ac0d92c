#include "output/report/raster.hpp"

#include <algorithm>
#include <cmath>

#include "output/report/stroke_font.hpp"

namespace diarist::output {
namespace {

class Canvas {
 public:
  Canvas(int width, int height)
      : image_{width, height,
               std::vector<std::uint8_t>(
                   static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3, 255)} {}

  void blend(int x, int y, Color color, double share) {
    if (x < 0 || y < 0 || x >= image_.width || y >= image_.height || share <= 0) return;
    std::uint8_t* pixel =
        &image_.pixels[(static_cast<std::size_t>(y) * static_cast<std::size_t>(image_.width) +
                        static_cast<std::size_t>(x)) *
                       3];
    for (int i = 0; i < 3; ++i) {
      const double wanted = (color >> (16 - 8 * i)) & 0xFFU;
      pixel[i] = static_cast<std::uint8_t>(
          std::lround(pixel[i] + (wanted - pixel[i]) * std::min(share, 1.0)));
    }
  }

  // A box in pixels.
  void fill(double left, double top, double right, double bottom, Color color, double opacity,
            int stripe) {
    const auto cover = [](int pixel, double from, double to) {
      return std::min(to, pixel + 1.0) - std::max(from, static_cast<double>(pixel));
    };
    for (int y = static_cast<int>(std::floor(top)); y < bottom; ++y)
      for (int x = static_cast<int>(std::floor(left)); x < right; ++x) {
        if (stripe > 0 && (x + y) % (3 * stripe) >= stripe) continue;
        blend(x, y, color, opacity * cover(x, left, right) * cover(y, top, bottom));
      }
  }

  Image take() { return std::move(image_); }
  int width() const { return image_.width; }
  int height() const { return image_.height; }

 private:
  Image image_;
};

double distance_to(const Stroke& stroke, double x, double y) {
  const double dx = stroke.x1 - stroke.x0, dy = stroke.y1 - stroke.y0;
  const double square = dx * dx + dy * dy;
  const double along =
      square > 0 ? std::clamp(((x - stroke.x0) * dx + (y - stroke.y0) * dy) / square, 0.0, 1.0) : 0;
  return std::hypot(x - stroke.x0 - along * dx, y - stroke.y0 - along * dy);
}

struct Brush {
  Canvas& canvas;
  int scale;

  void operator()(const PlotBox& box) const {
    canvas.fill(box.x * scale, box.y * scale, (box.x + box.width) * scale,
                (box.y + box.height) * scale, box.color, box.opacity, box.striped ? 2 * scale : 0);
  }

  void operator()(const PlotBars& bars) const {
    for (const PlotBars::Bar& bar : bars.bars)
      canvas.fill(bar.x * scale, bar.top * scale, (bar.x + 1) * scale, bar.bottom * scale,
                  bars.color, 1, 0);
  }

  void operator()(const PlotText& label) const {
    const double size = label.size * scale;
    const double width = stroked_width(label.text, size);
    const double shift = label.anchor == Anchor::kStart    ? 0
                         : label.anchor == Anchor::kMiddle ? width / 2
                                                           : width;
    const double radius = size * (label.bold ? 0.062 : 0.044);
    const std::vector<Stroke> strokes =
        strokes_of(label.text, size, label.x * scale - shift, label.y * scale);
    draw(strokes, radius, label.color);
  }

  // Each pixel once, by its nearest stroke: joints are not darker than lines.
  void draw(const std::vector<Stroke>& strokes, double radius, Color color) const {
    if (strokes.empty()) return;
    double left = strokes[0].x0, right = left, top = strokes[0].y0, bottom = top;
    for (const Stroke& s : strokes) {
      left = std::min({left, s.x0, s.x1});
      right = std::max({right, s.x0, s.x1});
      top = std::min({top, s.y0, s.y1});
      bottom = std::max({bottom, s.y0, s.y1});
    }
    const int x0 = std::max(0, static_cast<int>(left) - 3);
    const int y0 = std::max(0, static_cast<int>(top) - 3);
    const int columns = std::min(canvas.width(), static_cast<int>(right) + 4) - x0;
    const int rows = std::min(canvas.height(), static_cast<int>(bottom) + 4) - y0;
    if (columns <= 0 || rows <= 0) return;
    const auto place = [&](int x, int y) {
      return static_cast<std::size_t>(y - y0) * static_cast<std::size_t>(columns) +
             static_cast<std::size_t>(x - x0);
    };
    std::vector<float> cover(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
    for (const Stroke& s : strokes) {
      const int from_x = std::max(x0, static_cast<int>(std::min(s.x0, s.x1) - radius) - 1);
      const int to_x = std::min(x0 + columns, static_cast<int>(std::max(s.x0, s.x1) + radius) + 2);
      const int from_y = std::max(y0, static_cast<int>(std::min(s.y0, s.y1) - radius) - 1);
      const int to_y = std::min(y0 + rows, static_cast<int>(std::max(s.y0, s.y1) + radius) + 2);
      for (int y = from_y; y < to_y; ++y)
        for (int x = from_x; x < to_x; ++x) {
          const double share =
              std::clamp(radius + 0.5 - distance_to(s, x + 0.5, y + 0.5), 0.0, 1.0);
          float& most = cover[place(x, y)];
          most = std::max(most, static_cast<float>(share));
        }
    }
    for (int y = y0; y < y0 + rows; ++y)
      for (int x = x0; x < x0 + columns; ++x)
        canvas.blend(x, y, color, static_cast<double>(cover[place(x, y)]));
  }
};

}  // namespace

Image rasterize(const Plot& plot, int scale) {
  Canvas canvas(static_cast<int>(std::lround(plot.width * scale)),
                static_cast<int>(std::lround(plot.height * scale)));
  for (const PlotShape& shape : plot.shapes) std::visit(Brush{canvas, scale}, shape);
  return canvas.take();
}

}  // namespace diarist::output
