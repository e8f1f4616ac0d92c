#pragma once
// Text inside HTML, SVG and JSON that lies in HTML.

#include <string>
#include <string_view>

namespace diarist::output {

/// Markup characters as entities; white space and control characters as blanks; bytes that are not
/// UTF-8, and characters that XML does not allow, as U+FFFD.
std::string markup_text(std::string_view text);

/// JSON text that may stand inside a script element: '<', '>', '&' and the two line separators of
/// JavaScript become \uXXXX, which means the same.
std::string json_inside_html(std::string_view json);

std::string base64(std::string_view bytes);

/// Length in bytes of the UTF-8 character that starts the text, 0 for what is none.
std::size_t utf8_length(std::string_view text) noexcept;

/// Code point of the UTF-8 character that starts the text; U+FFFD for what is none.
char32_t utf8_code_point(std::string_view text) noexcept;

}  // namespace diarist::output
