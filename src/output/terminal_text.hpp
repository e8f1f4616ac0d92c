#pragma once
// Text for a terminal: widths, padding, nothing that could steer it.

#include <string>
#include <string_view>

namespace diarist::output {

/// Columns of UTF-8 text: one per code point.
int text_width(std::string_view text);

/// The text without control characters (they become '?') and at most `most` columns wide (>= 1);
/// what is cut off shows as "…", or "~" in ASCII.
std::string shown(std::string_view text, int most, bool ascii);

std::string pad_right(const std::string& text, int width);
std::string pad_left(const std::string& text, int width);

}  // namespace diarist::output
