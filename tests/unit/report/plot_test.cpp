// Plots: where things are, by the scale of the axis; pixels of the PNG's canvas.

#include "output/report/plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "diarist/error.hpp"
#include "output/report/raster.hpp"
#include "output/report/stroke_font.hpp"
#include "unit/output/results.hpp"

namespace diarist::output {
namespace {

template <typename Shape>
std::vector<Shape> all(const Plot& plot) {
  std::vector<Shape> found;
  for (const PlotShape& shape : plot.shapes)
    if (const auto* one = std::get_if<Shape>(&shape)) found.push_back(*one);
  return found;
}

TEST(Plot, BarsStandWhereTheAxisSays) {
  const Plot plot = make_plot(test::small_result(), {.title = "", .width = 1000});
  double zero = 0, ten = 0;
  std::set<std::string> texts;
  for (const PlotText& text : all<PlotText>(plot)) {
    texts.insert(text.text);
    if (text.text == "0:00") zero = text.x;
    if (text.text == "0:10") ten = text.x;
    EXPECT_LE(text.x, 1000);
  }
  for (const char* wanted : {"meeting", "SPEAKER_00", "SPEAKER_01", "overlap", "0:30"})
    EXPECT_TRUE(texts.contains(wanted)) << wanted;
  ASSERT_GT(ten, zero);
  const double second = (ten - zero) / 10;
  bool second_turn = false, overlap = false;
  for (const PlotBox& box : all<PlotBox>(plot)) {
    // SPEAKER_01 speaks from 2 to 4.25 s, and both from 2 to 2.5 s.
    if (std::abs(box.x - zero - 2 * second) > 1e-6) continue;
    if (box.striped) {
      overlap = true;
      EXPECT_NEAR(box.width, 0.5 * second, 1e-6);
    } else {
      second_turn = true;
      EXPECT_NEAR(box.width, 2.25 * second, 1e-6);
    }
  }
  EXPECT_TRUE(second_turn && overlap);
}

TEST(Plot, ConfidenceShadesTheBar) {
  Diarization result = test::small_result();
  result.turns[1].confidence = 0.4F;
  double lightest = 1;
  for (const PlotBox& box : all<PlotBox>(make_plot(result, {})))
    lightest = std::min(lightest, box.opacity);
  EXPECT_NEAR(lightest, 0.28, 1e-6);
}

TEST(Plot, WidthsHaveLimits) {
  EXPECT_THROW(make_plot(test::small_result(), {.title = "", .width = 399}), Error);
  EXPECT_THROW(make_plot(test::small_result(), {.title = "", .width = 10001}), Error);
}

TEST(Svg, IsTheSameTextEveryTimeAndEscapesNames) {
  Diarization result = test::small_result();
  result.speakers[0].name = "<b>&\"";
  const std::string svg = to_svg(result);
  EXPECT_EQ(svg, to_svg(result));
  EXPECT_NE(svg.find("&lt;b&gt;&amp;&quot;"), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
}

std::uint8_t red(const Image& image, int x, int y) {
  return image.pixels[(static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                       static_cast<std::size_t>(x)) *
                      3];
}

TEST(Raster, CoversPixelsByTheirShare) {
  Plot plot{.width = 8, .height = 4, .title = "", .shapes = {}};
  plot.shapes.emplace_back(PlotBox{1, 1, 1.25, 1, 0x000000});
  const Image image = rasterize(plot, 2);  // from 2 to 4.5 pixels
  EXPECT_EQ(image.width, 16);
  EXPECT_EQ(image.height, 8);
  EXPECT_EQ(red(image, 1, 2), 255);
  EXPECT_EQ(red(image, 2, 2), 0);
  EXPECT_EQ(red(image, 3, 3), 0);
  EXPECT_EQ(red(image, 4, 2), 128);  // half of 255, rounded
  EXPECT_EQ(red(image, 5, 2), 255);
  EXPECT_EQ(red(image, 2, 4), 255);
}

TEST(StrokeFont, KnowsEveryCharacterOfAscii) {
  // A box is four strokes in one closed line: only '\x7f' and what is not Latin-1 is drawn as one.
  const auto strokes = [](const std::string& text) { return strokes_of(text, 10, 0, 0).size(); };
  std::set<std::string> shapes;
  for (char c = '!'; c <= '~'; ++c) {
    std::string key;
    for (const Stroke& s : strokes_of(std::string(1, c), 10, 0, 0))
      key += std::to_string(std::lround(s.x0)) + "," + std::to_string(std::lround(s.y0)) + "," +
             std::to_string(std::lround(s.x1)) + "," + std::to_string(std::lround(s.y1)) + " ";
    EXPECT_FALSE(key.empty()) << c;
    EXPECT_TRUE(shapes.insert(key).second) << c << " looks like another character";
  }
  EXPECT_EQ(strokes(" "), 0U);
  EXPECT_EQ(strokes("日"), 4U);
  EXPECT_EQ(strokes("é"), strokes("e"));
  EXPECT_EQ(strokes("L"), 2U);
  EXPECT_DOUBLE_EQ(stroked_width("LL", 10), 4 + 1.7 + 4);
  const std::vector<Stroke> l = strokes_of("L", 10, 5, 20);  // down from the top, then right
  EXPECT_DOUBLE_EQ(l[0].x0, 5);
  EXPECT_DOUBLE_EQ(l[0].y0, 13);
  EXPECT_DOUBLE_EQ(l[0].y1, 20);
  EXPECT_DOUBLE_EQ(l[1].x1, 9);
}

}  // namespace
}  // namespace diarist::output
