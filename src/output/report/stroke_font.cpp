#include "output/report/stroke_font.hpp"

#include <algorithm>
#include <array>

#include "output/report/markup.hpp"

namespace diarist::output {
namespace {

struct Glyph {
  int width;  // in units of the grid
  // Polylines, separated by blanks; two digits per point: x to the right, y up. The baseline is at
  // y = 2, small letters reach 7, capitals 9.
  std::string_view lines;
};

constexpr Glyph kBox = {4, "0242490902"};

// ASCII from ' ' to '~'.
constexpr std::array<Glyph, 95> kGlyphs = {{
    {2, ""},                                  // space
    {0, "0904 0202"},                         // !
    {1, "0907 1917"},                         // "
    {4, "1219 3239 0444 0747"},               // #
    {4, "483817070616364543331303 2921"},     // $
    {5, "0259 0819281708 3344534233"},        // %
    {5, "5217182938370403123254"},            // &
    {0, "0907"},                              // '
    {1, "19070411"},                          // (
    {1, "09171401"},                          // )
    {4, "0446 0644 2327"},                    // *
    {4, "0545 2327"},                         // +
    {0, "0201"},                              // ,
    {3, "0535"},                              // -
    {0, "0202"},                              // .
    {3, "0139"},                              // /
    {4, "123243483919080312"},                // 0
    {4, "072922 0242"},                       // 1
    {4, "08193948460242"},                    // 2
    {4, "08193948473626 364543321203"},       // 3
    {4, "32390444"},                          // 4
    {4, "490906364543321203"},                // 5
    {4, "483919080312324345361605"},          // 6
    {4, "094912"},                            // 7
    {4, "16070819394847361605031232434536"},  // 8
    {4, "031232434839190806153546"},          // 9
    {0, "0202 0606"},                         // :
    {0, "0201 0606"},                         // ;
    {3, "370533"},                            // <
    {4, "0444 0646"},                         // =
    {3, "073503"},                            // >
    {4, "08193948472524 2222"},               // ?
    {6, "52120308194958654434363756"},        // @
    {4, "022942 1535"},                       // A
    {4, "02093948473606 3645433202"},         // B
    {4, "4839190803123243"},                  // C
    {4, "02092947442202"},                    // D
    {4, "49090242 0636"},                     // E
    {4, "490902 0636"},                       // F
    {4, "48391908031232434525"},              // G
    {4, "0209 4249 0646"},                    // H
    {2, "1219 0222 0929"},                    // I
    {4, "4943321203"},                        // J
    {4, "0209 4905 1642"},                    // K
    {4, "090242"},                            // L
    {4, "0209264942"},                        // M
    {4, "02094249"},                          // N
    {5, "124253584919080312"},                // O
    {4, "02093948463505"},                    // P
    {5, "124253584919080312 3451"},           // Q
    {4, "02093948463505 2542"},               // R
    {4, "483919080716364543321203"},          // S
    {4, "0949 2922"},                         // T
    {4, "090312324349"},                      // U
    {4, "092249"},                            // V
    {6, "0912385269"},                        // W
    {4, "0942 0249"},                         // X
    {4, "092649 2622"},                       // Y
    {4, "09490242"},                          // Z
    {1, "19090111"},                          // [
    {3, "0931"},                              // backslash
    {1, "09191101"},                          // ]
    {4, "072947"},                            // ^
    {4, "0141"},                              // _
    {1, "0918"},                              // `
    {4, "4637170603123243 4742"},             // a
    {4, "0902 0617374643321203"},             // b
    {4, "4637170603123243"},                  // c
    {4, "4942 4637170603123243"},             // d
    {4, "05454637170603123243"},              // e
    {3, "39291812 0737"},                     // f
    {4, "4637170603123243 4741301001"},       // g
    {4, "0902 0617374642"},                   // h
    {0, "0702 0909"},                         // i
    {1, "171100 1919"},                       // j
    {3, "0902 3704 1532"},                    // k
    {1, "090312"},                            // l
    {6, "0702 0617273632 3647576662"},        // m
    {4, "0702 0617374642"},                   // n
    {4, "123243463717060312"},                // o
    {4, "0700 0617374643321203"},             // p
    {4, "4740 4637170603123243"},             // q
    {3, "0702 06172736"},                     // r
    {4, "46371706153443321203"},              // s
    {3, "19132232 0737"},                     // t
    {4, "0703123243 4742"},                   // u
    {4, "072247"},                            // v
    {6, "0712365267"},                        // w
    {4, "0742 0247"},                         // x
    {4, "0722 4710"},                         // y
    {4, "07470242"},                          // z
    {2, "29181605141221"},                    // {
    {0, "0901"},                              // |
    {2, "09181625141201"},                    // }
    {4, "0516253545"},                        // ~
}};

// Letters of Latin-1 from U+00C0 on without their accents.
constexpr std::string_view kLatin =
    "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty";

constexpr double kUnit = 0.1;   // of the size
constexpr double kSpace = 1.7;  // units between letters

const Glyph& glyph_of(char32_t point) {
  if (point >= 0xC0 && point <= 0xFF)
    point = static_cast<unsigned char>(kLatin[static_cast<std::size_t>(point - 0xC0)]);
  if (point == 0x2013 || point == 0x2014) point = '-';
  if (point < 0x20 || point == 0xA0) point = ' ';
  if (point > '~') return kBox;
  const Glyph& glyph = kGlyphs[static_cast<std::size_t>(point - ' ')];
  return glyph.lines.empty() && point != ' ' ? kBox : glyph;
}

// Calls use(glyph, units from the start) for every character.
template <typename Use>
double walk(std::string_view text, const Use& use) {
  double at = 0;
  while (!text.empty()) {
    const Glyph& glyph = glyph_of(utf8_code_point(text));
    use(glyph, at);
    at += glyph.width + kSpace;
    text.remove_prefix(std::max<std::size_t>(1, utf8_length(text)));
  }
  return std::max(0.0, at - kSpace);
}

}  // namespace

std::vector<Stroke> strokes_of(std::string_view text, double size, double x, double y) {
  std::vector<Stroke> strokes;
  const double unit = size * kUnit;
  walk(text, [&](const Glyph& glyph, double at) {
    const std::string_view lines = glyph.lines;
    const auto point = [&](std::size_t i) {
      return std::array<double, 2>{x + (at + (lines[i] - '0')) * unit,
                                   y - (lines[i + 1] - '2') * unit};
    };
    for (std::size_t i = 0; i + 3 < lines.size(); i += 2) {
      if (lines[i] == ' ') ++i;
      if (lines[i + 2] == ' ') continue;  // the line ends here
      const auto from = point(i), to = point(i + 2);
      strokes.push_back({from[0], from[1], to[0], to[1]});
    }
  });
  return strokes;
}

double stroked_width(std::string_view text, double size) {
  return walk(text, [](const Glyph&, double) {}) * size * kUnit;
}

}  // namespace diarist::output
