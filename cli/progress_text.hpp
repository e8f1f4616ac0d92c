#pragma once
// The line of progress as text.

#include <string>

namespace diarist::cli {

/// "0:07", "12:30", "1:02:03".
std::string clock_text(double seconds);

/// The line for a terminal of `columns`: a bar where `fraction` is known, else only words.
std::string progress_text(const std::string& what, double fraction, double rate, double left,
                          int columns);

}  // namespace diarist::cli
