#pragma once
// The text of a segment, cut between words.

#include <cstddef>
#include <string>
#include <vector>

#include "diarist/transcripts.hpp"

namespace diarist::output {

/// Cuts `text` in front of the words with the given indices (rising, none 0). Where the words are
/// not those of the text, the pieces are made of the words.
std::vector<std::string> cut_text(const std::string& text, const std::vector<TranscriptWord>& words,
                                  const std::vector<std::size_t>& cuts);

}  // namespace diarist::output
