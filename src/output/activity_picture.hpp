#pragma once
// Who is active when, drawn with characters.

#include <string>

#include "diarist/result.hpp"

namespace diarist::output {

/// One lane per speaker and an axis of time below, every line at most `columns` wide.
/// A cell shows how much of its stretch of time the speaker fills: eight heights of block, or in
/// ASCII '-' for less than half and '#' for more; '·' ('.') is silence.
std::string activity_picture(const Diarization& result, int columns, bool ascii);

/// Seconds to draw: the duration, or the last end where that is not known.
double seconds_shown(const Diarization& result);

}  // namespace diarist::output
