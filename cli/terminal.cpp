#include "terminal.hpp"

#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace diarist::cli {
namespace {

// The C library knows the widths of characters, but only under a UTF-8 locale.
class Utf8Locale {
 public:
  Utf8Locale() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_ != nullptr) before_ = uselocale(locale_);
  }
  ~Utf8Locale() {
    if (locale_ == nullptr) return;
    uselocale(before_);
    freelocale(locale_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t locale_;
  locale_t before_ = nullptr;
};

struct Glyph {
  std::size_t bytes;
  int columns;
  bool shown;
};

// The first character; a byte that starts none counts as one column and is not shown.
Glyph glyph_at(std::string_view text) {
  wchar_t wide = 0;
  mbstate_t state{};
  const std::size_t bytes = mbrtowc(&wide, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) return {1, 1, false};
  const int columns = wcwidth(wide);
  return columns < 0 ? Glyph{bytes, 1, false} : Glyph{bytes, columns, true};
}

}  // namespace

bool is_terminal(int descriptor) { return isatty(descriptor) != 0; }

bool has_colours(int descriptor) {
  if (!is_terminal(descriptor)) return false;
  const char* no = std::getenv("NO_COLOR");
  if (no != nullptr && *no != '\0') return false;
  const char* kind = std::getenv("TERM");
  return kind != nullptr && *kind != '\0' && std::strcmp(kind, "dumb") != 0;
}

int columns_of(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

int width_of(std::string_view text) {
  const Utf8Locale locale;
  int width = 0;
  while (!text.empty()) {
    const Glyph glyph = glyph_at(text);
    width += glyph.columns;
    text.remove_prefix(glyph.bytes);
  }
  return width;
}

std::string shortened(std::string_view text, int most) {
  const Utf8Locale locale;
  constexpr int kDots = 3;
  std::string whole, cut;
  int width = 0;
  while (!text.empty()) {
    const Glyph glyph = glyph_at(text);
    const std::string_view shown = glyph.shown ? text.substr(0, glyph.bytes) : "?";
    width += glyph.columns;
    whole += shown;
    if (width <= most - kDots) cut = whole;
    text.remove_prefix(glyph.bytes);
  }
  if (width <= most) return whole;
  return most < kDots ? std::string(static_cast<std::size_t>(std::max(most, 0)), '.') : cut + "...";
}

std::string wrapped(std::string_view text, int columns, int indent) {
  std::string result;
  int at = indent;
  while (!text.empty()) {
    const std::size_t start = text.find_first_not_of(" \n");
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    const int width = width_of(word);
    if (at > indent && at + 1 + width > columns) {
      result += '\n';
      result.append(static_cast<std::size_t>(indent), ' ');
      at = indent;
    } else if (at > indent) {
      result += ' ';
      ++at;
    }
    result += word;
    at += width;
  }
  return result;
}

}  // namespace diarist::cli
