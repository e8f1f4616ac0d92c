#pragma once
// Lines and fields of text formats, and pieces of a file for messages.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diarist::output {

/// Fields of a line between blanks (space, tab, CR, VT, FF).
std::vector<std::string_view> split_fields(std::string_view line);

/// A piece of the file for a message of one line: quoted, short and plain ASCII, whatever it is.
std::string quoted(std::string_view text);

/// A number of seconds >= 0 that fills the whole text; nothing for any other text.
std::optional<double> seconds_from(std::string_view text);

/// Cuts the next line off `text`, without its end ("\n", "\r\n" or "\r").
std::string_view take_line(std::string_view& text);

/// The text without a UTF-8 byte order mark.
std::string_view without_mark(std::string_view text);

/// The text without blanks (space, tab, CR, LF, VT, FF) at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace diarist::output
