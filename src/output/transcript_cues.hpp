#pragma once
// Lines and cues of subtitles, for both formats.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/transcripts.hpp"

namespace diarist::output {

/// Markup longer than this many bytes is taken for text: looking for its end must not take time
/// that grows with the square of a payload.
constexpr std::size_t kLongestTag = 4096;

/// Lines without their ends (LF, CR LF or CR).
std::vector<std::string_view> lines_of(std::string_view text);

bool is_blank(std::string_view text);
std::string_view without_blanks(std::string_view text);

struct CueTimes {
  double start = 0;
  double end = 0;
  std::string_view settings;  ///< what follows the times
};

/// A line "TIME --> TIME SETTINGS"; nothing where it is none.
std::optional<CueTimes> cue_times(std::string_view line);

/// The line of times for a segment that was no cue. One without times stands where its words do, or
/// else at the end of the segment before it, `last_end`, which this brings up to date.
std::string made_cue_times(const TranscriptSegment& segment, double& last_end, char point);

/// A payload without <tags> and {\overrides}, character references of WebVTT resolved.
std::string plain_cue_text(std::string_view payload, bool references);

/// Text as the payload of a cue: no blank lines, which would end it, no arrow.
std::string cue_payload(std::string_view text);

/// "&", "<" and ">" as character references.
std::string escaped_for_vtt(std::string_view text);

/// Name on one line.
std::string one_line_name(std::string_view name);

}  // namespace diarist::output
