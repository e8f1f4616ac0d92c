#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "diarist/report.hpp"
#include "output/report/markup.hpp"
#include "output/report/plot.hpp"

namespace diarist {
namespace {

using output::Anchor;
using output::PlotBars;
using output::PlotBox;
using output::PlotText;

// Two decimals without idle zeros.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", std::abs(value) < 0.005 ? 0.0 : value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

struct Writer {
  std::string& text;

  void operator()(const PlotBox& box) const {
    const std::string fill =
        box.striped ? std::string("url(#stripes)") : fmt::format("#{:06x}", box.color);
    fmt::format_to(std::back_inserter(text),
                   R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}")", number(box.x),
                   number(box.y), number(box.width), number(box.height), fill);
    if (box.opacity < 1) text += fmt::format(R"( fill-opacity="{}")", number(box.opacity));
    text += "/>\n";
  }

  void operator()(const PlotBars& bars) const {
    fmt::format_to(std::back_inserter(text), R"(<path stroke="#{:06x}" stroke-width="1" d=")",
                   bars.color);
    for (const PlotBars::Bar& bar : bars.bars)
      fmt::format_to(std::back_inserter(text), "M{} {}V{}", number(bar.x + 0.5), number(bar.top),
                     number(bar.bottom));
    text += "\"/>\n";
  }

  void operator()(const PlotText& label) const {
    const char* anchor = label.anchor == Anchor::kStart    ? ""
                         : label.anchor == Anchor::kMiddle ? R"( text-anchor="middle")"
                                                           : R"( text-anchor="end")";
    fmt::format_to(std::back_inserter(text),
                   "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"#{:06x}\"{}{}>{}</text>\n",
                   number(label.x), number(label.y), number(label.size), label.color, anchor,
                   label.bold ? R"( font-weight="600")" : "", output::markup_text(label.text));
  }
};

}  // namespace

std::string to_svg(const Diarization& result, const PlotOptions& options) {
  const output::Plot plot = output::make_plot(result, options);
  const std::string width = number(plot.width);
  const std::string height = number(plot.height);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n"
      "<title>Who speaks when: {2}</title>\n"
      "<defs><pattern id=\"stripes\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect width=\"1.6\" height=\"4\" fill=\"#1b1d20\"/>"
      "</pattern></defs>\n",
      width, height, output::markup_text(plot.title));
  for (const output::PlotShape& shape : plot.shapes) std::visit(Writer{text}, shape);
  return text + "</svg>\n";
}

}  // namespace diarist
