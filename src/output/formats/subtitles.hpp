#pragma once
// Names in subtitles: the text of a SubRip cue is "[NAME]", of a WebVTT cue "<v NAME>NAME".

#include "output/formats/escapes.hpp"

namespace diarist::output {

/// SubRip has no rules of its own: what ends the name, looks like a tag or like an arrow.
inline constexpr Escapes kSubRipName{.marks = "]<>{}"};

}  // namespace diarist::output
