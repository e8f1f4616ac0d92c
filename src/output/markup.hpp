#pragma once
// Names inside Markdown and comma-separated values.

#include <string>
#include <string_view>

namespace diarist::output {

/// Text of a Markdown paragraph or table cell that shows as it is: characters with a meaning get a
/// backslash, control characters become '?'.
std::string markdown_text(std::string_view text);

/// A field of RFC 4180: quoted where it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);

}  // namespace diarist::output
