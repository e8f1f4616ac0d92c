#pragma once
// What the targets of all kinds of transcripts do with an input.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "diarist/transcripts.hpp"
#include "fuzz.hpp"

namespace diarist::fuzz {

/// Reads, labels and writes in every form; what was written in the form it came in is read again,
/// and has the same segments.
inline void try_transcript(const std::uint8_t* data, std::size_t size) {
  expect_error_or_result([&] {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const Transcript read = parse_transcript(text, "input");
    const Transcript labelled =
        label_transcript(read, {{0, 1.5, "Ann"}, {1.2, 3, "Bob <&> \n"}, {90, 1e300, "Cy"}});
    for (const TranscriptFormat format : {TranscriptFormat::kJson, TranscriptFormat::kSrt,
                                          TranscriptFormat::kVtt, TranscriptFormat::kText}) {
      write_transcript(labelled, format, SpeakerStyle::kBrackets);
      write_transcript(read, format);
    }
    if (read.segments.empty()) return;
    const Transcript again = parse_transcript(write_transcript(labelled, read.format), "output");
    if (again.segments.size() != labelled.segments.size())
      throw std::logic_error("segments do not come back");
    for (std::size_t i = 0; i < again.segments.size(); ++i) {
      if (again.segments[i].words.size() != labelled.segments[i].words.size() &&
          read.format == TranscriptFormat::kJson)
        throw std::logic_error("words do not come back");
    }
  });
}

}  // namespace diarist::fuzz
