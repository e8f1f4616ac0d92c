#pragma once
// What standard output and error are connected to, and text that fits.

#include <string>
#include <string_view>

namespace diarist::cli {

bool is_terminal(int descriptor);

/// A terminal, and neither NO_COLOR nor TERM=dumb speaks against it.
bool has_colours(int descriptor);

/// Columns of the terminal, asked anew at each call; 80 when there is none.
int columns_of(int descriptor);

/// Columns that UTF-8 text takes: 2 for wide characters, 0 for combining ones.
int width_of(std::string_view text);

/// The text without control characters, cut between characters to at most `most` columns; a cut
/// shows as "...".
std::string shortened(std::string_view text, int most);

/// Words wrapped at `columns`; each line after the first starts with `indent` blanks.
std::string wrapped(std::string_view text, int columns, int indent);

}  // namespace diarist::cli
